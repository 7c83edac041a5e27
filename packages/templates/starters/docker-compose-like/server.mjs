import { createServer } from "node:http"
import pg from "pg"

const port = Number(process.env.PORT)
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })

const answer = async (path) => {
  if (path === "/healthz") return (await pool.query("SELECT 'ok' AS text")).rows[0].text
  await pool.query("CREATE TABLE IF NOT EXISTS visits (at timestamptz NOT NULL DEFAULT now())")
  await pool.query("INSERT INTO visits DEFAULT VALUES")
  const { rows } = await pool.query("SELECT count(*) AS visits FROM visits")
  return `Visits: ${rows[0].visits}`
}

createServer((request, response) => {
  answer(request.url).then(
    (text) => response.end(`${text}\n`),
    (error) => response.writeHead(503).end(`${error.message}\n`)
  )
}).listen(port, "127.0.0.1", () => process.stdout.write(`listening on port ${port}\n`))
