/**
 * A server composed of the packages: `node main.js [PORT] [DIRECTORY]`, on SQLite, or on the PostgreSQL database that `DATABASE_URL` names. The package
 * `atelier` is such a server with options for everything, TLS, metrics and several processes.
 */
import { Atelier } from "@atelier/http"
import { mcpServer } from "@atelier/mcp"
import { LocalProvisioner } from "@atelier/provisioner"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { starterTemplates } from "@atelier/templates"
import { once } from "node:events"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

const [port = "3000", directory = "."] = process.argv.slice(2)
const databaseUrl = process.env["DATABASE_URL"]

// The access URL tells the port, also where the system chooses it
const server = createServer().listen(Number(port), "127.0.0.1")
await once(server, "listening")
const address = server.address()
const accessUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : port}`

const atelier = await Atelier.make({
  accessUrl,
  storage: databaseUrl === undefined ? Sqlite.layer({ filename: `${directory}/atelier.db` }) : Postgres.layer({ url: databaseUrl }),
  // Workspaces are processes of this machine
  provisioner: LocalProvisioner.layer({
    directory: `${directory}/workspaces`,
    agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))] }
  }),
  starterTemplates: starterTemplates(),
  mcp: mcpServer()
})
server.on("request", atelier.handler).on("upgrade", atelier.upgrade)
process.stdout.write(`listens on ${accessUrl}\n`)

// Ends after the requests under way; the workspaces keep running
const end = async (): Promise<void> => {
  server.close()
  await atelier.dispose()
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end())
