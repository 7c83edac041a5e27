// Measures what clients notice of rolling restarts: `npm run build && node scripts/reliability/rolling-restarts.mjs [--restarts 20] [--grace 2]`.
// Three standalone servers share a PostgreSQL database behind a proxy that asks each for /readyz and never sends a request twice. Clients keep
// calling through the proxy while one server after the other is told to end and is started again. Exits with 1 when a call failed. On a machine
// that is so busy that no server answers /readyz in time, the proxy counts three such checks before it gives a server up.
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { Agent, createServer, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { hasFailed, keepCalling, newCount, reportOf } from "./load.mjs"
import { freePort, signUp, startPostgres, startServer } from "./server.mjs"

const { values } = parseArgs({
  options: {
    restarts: { type: "string", default: "20" },
    replicas: { type: "string", default: "3" },
    clients: { type: "string", default: "12" },
    grace: { type: "string", default: "2" }
  }
})
const [restarts, replicas, clients] = [Number(values.restarts), Number(values.replicas), Number(values.clients)]

/** Checks without an answer after which the proxy sends a server nothing more. */
const missedChecks = 3

/** How often the proxy asks each server whether it is ready, in milliseconds: several times within the grace time. */
const checkEvery = 250

const startReplica = async (replica) => {
  const options = {
    "http-address": `127.0.0.1:${replica.port}`,
    "access-url": replica.accessUrl,
    database: replica.database,
    "workspaces-directory": replica.directory,
    "provisioner-daemons": "0",
    "drain-grace": `${values.grace}s`,
    "log-level": "error"
  }
  replica.child = await startServer(options)
}

/** Sends a call to a server over connections that are kept, and pipes its answer back. */
const forward = (replica, incoming, outgoing, count) => {
  const { headers, method, url } = incoming
  const call = request({ host: "127.0.0.1", port: replica.port, agent: replica.agent, path: url, method, headers }, (answer) => {
    const { connection: _, ...kept } = answer.headers
    outgoing.writeHead(answer.statusCode, kept)
    answer.pipe(outgoing)
    answer.on("error", () => outgoing.destroy())
  })
  call.on("error", (error) => {
    count.broken.push(error.code ?? error.message)
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502).end()
  })
  incoming.pipe(call)
}

/** Asks a server whether it is ready, over a connection of its own. */
const check = (replica) => {
  const asked = request({ host: "127.0.0.1", port: replica.port, path: "/readyz", agent: false, timeout: 1_000 }, (answer) => {
    answer.resume()
    replica.missed = 0
    replica.isReady = answer.statusCode === 200
  })
  asked.on("timeout", () => asked.destroy())
  asked.on("error", () => {
    if (++replica.missed >= missedChecks) replica.isReady = false
  })
  asked.end()
}

const startProxy = async (port, all, count) => {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const ready = all.filter((replica) => replica.isReady)
    const replica = ready[turn++ % ready.length]
    if (replica === undefined) {
      count.unserved++
      return void outgoing.writeHead(503).end()
    }
    forward(replica, incoming, outgoing, count)
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  const timer = setInterval(() => all.forEach(check), checkEvery)
  return () => {
    clearInterval(timer)
    server.close()
    server.closeAllConnections()
  }
}

/** Tells a server to end, waits for that, and starts it again until the proxy sends it calls. */
const restart = async (replica) => {
  replica.child.removeAllListeners("exit")
  const exited = once(replica.child, "exit")
  const started = performance.now()
  replica.child.kill("SIGTERM")
  const [code] = await exited
  const ended = performance.now() - started
  if (code !== 0) throw new Error(`a server ended with ${code}`)
  await startReplica(replica)
  while (!replica.isReady) await new Promise((resolve) => setTimeout(resolve, checkEvery))
  return ended
}

const folder = await mkdtemp(join(tmpdir(), "atelier-restarts-"))
// PostgreSQL runs as a user of its own where this process is root
await chmod(folder, 0o755)
const postgres = await startPostgres(folder)

const proxyPort = await freePort()
const url = `http://127.0.0.1:${proxyPort}`
const all = []
const count = newCount()
let stopProxy = () => {}
let failed = true
try {
  for (let index = 0; index < replicas; index++) {
    all.push({
      port: await freePort(),
      accessUrl: url,
      database: postgres.url,
      directory: join(folder, `workspaces-${index}`),
      agent: new Agent({ keepAlive: true }),
      isReady: true,
      missed: 0
    })
    await startReplica(all[index])
  }
  stopProxy = await startProxy(proxyPort, all, count)
  const { token } = await signUp(url)

  const started = performance.now()
  const calling = Array.from({ length: clients }, () => keepCalling(url, token, count))
  const ends = []
  for (let index = 0; index < restarts; index++) ends.push(await restart(all[index % all.length]))
  count.isOver = true
  await Promise.all(calling)
  const seconds = (performance.now() - started) / 1000

  process.stdout.write(
    [
      `${restarts} restarts of ${replicas} replicas in ${seconds.toFixed(0)} s, ${clients} clients, grace ${values.grace} s`,
      ...reportOf(count, seconds),
      `calls while the proxy knew no server that was ready: ${count.unserved}`,
      `from SIGTERM to the end: ${Math.min(...ends).toFixed(0)} to ${Math.max(...ends).toFixed(0)} ms`,
      ""
    ].join("\n")
  )
  failed = hasFailed(count)
} finally {
  count.isOver = true
  stopProxy()
  for (const { agent, child } of all) {
    child?.removeAllListeners("exit")
    child?.kill("SIGKILL")
    agent.destroy()
  }
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
