/** Runs the program: `ATELIER_TOKEN=… node main.js http://127.0.0.1:3000`. */
import { AtelierError, createClient } from "@atelier/client"
import { WebSocket } from "ws"
import { answer } from "./answer.js"

const [baseUrl = "http://127.0.0.1:3000"] = process.argv.slice(2)
// Node has a WebSocket of its own since version 22
const client = createClient({ baseUrl, token: process.env["ATELIER_TOKEN"], WebSocket })

try {
  const { exitCode, preview, stdout } = await answer(client, (line) => process.stderr.write(`${line}\n`))
  process.stdout.write(`${stdout}The program ended with ${exitCode}. A server on port 8000 would be at ${preview}\n`)
} catch (error) {
  if (!(error instanceof AtelierError)) throw error
  process.stderr.write(`${error.message} (status ${error.status})\n${error.detail ?? ""}\n`)
  process.exitCode = 1
}
