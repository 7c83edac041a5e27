// What Node's cluster costs by itself: one process or several, which answer each request with a row that `pg` reads.
import cluster from "node:cluster"
import { createServer } from "node:http"
import pg from "pg"

const [count, connectionString] = [Number(process.argv[2]), process.argv[3]]

const serve = (listening) => {
  const pool = new pg.Pool({ connectionString })
  const query = { name: "role", text: "SELECT oid, rolname, rolsuper, rolcanlogin FROM pg_roles WHERE rolname = $1", values: ["postgres"] }
  const server = createServer(async (_, response) => {
    const { rows } = await pool.query(query)
    const body = JSON.stringify(rows)
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
  server.listen({ port: 0, host: "127.0.0.1" }, () => listening?.(server.address().port))
}

if (cluster.isWorker) serve()
else {
  process.on("disconnect", () => process.exit())
  if (count === 1) serve((port) => process.send({ port, pids: [process.pid] }))
  else {
    const workers = Array.from({ length: count }, () => cluster.fork())
    const pids = [process.pid, ...workers.map((worker) => worker.process.pid)]
    let listening = 0
    cluster.on("listening", (_, { port }) => {
      listening += 1
      if (listening === count) process.send({ port, pids })
    })
  }
}
