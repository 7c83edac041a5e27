/** Runs the program: `ATELIER_TOKEN=… node main.js https://dev.example.com NAME`. Ctrl+C ends it, and the build goes on. */
import { AtelierError, createClient } from "@atelier/client"
import { WebSocket } from "ws"
import { start } from "./start.js"

const [baseUrl = "http://127.0.0.1:3000", name = ""] = process.argv.slice(2)
// Node has a WebSocket of its own since version 22
const client = createClient({ baseUrl, token: process.env["ATELIER_TOKEN"], WebSocket })

const interrupted = new AbortController()
process.once("SIGINT", () => interrupted.abort())

try {
  const agents = await start(client, name, (line) => process.stdout.write(`${line}\n`), interrupted.signal)
  process.stdout.write(`${name} runs with ${agents.join(", ")}\n`)
} catch (error) {
  if (interrupted.signal.aborted) process.exit(130)
  if (!(error instanceof AtelierError)) throw error
  process.stderr.write(`${error.message} (status ${error.status})\n`)
  process.exitCode = 1
}
