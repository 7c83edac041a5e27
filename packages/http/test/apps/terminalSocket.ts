/** Terminals as clients open them. */
import { WebSocket } from "ws"
import type { AgentServer } from "../agents/AgentServer.js"

export interface Opened {
  readonly socket: WebSocket
  readonly until: (pattern: RegExp) => Promise<string>
  readonly closed: Promise<readonly [number, string]>
  readonly type: (request: object | string) => void
}

/** A terminal, or the status and the body of the refusal. */
export const openTerminal = (
  server: AgentServer,
  id: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = { "service-session-token": server.owner().token }
): Promise<Opened | { readonly status: number; readonly body: unknown }> =>
  new Promise((resolve, reject) => {
    const url = `${server.url.replace("http", "ws")}/api/v2/workspaceagents/${id}/pty?${new URLSearchParams(query)}`
    const socket = new WebSocket(url, { headers })
    let text = ""
    let look = (): void => undefined
    socket.on("message", (data: Buffer) => {
      text += data.toString()
      look()
    })
    const closed = new Promise<readonly [number, string]>((done) => socket.on("close", (code, reason) => done([code, reason.toString()])))
    socket.on("unexpected-response", (_, response) => {
      let body = ""
      response.on("data", (chunk) => (body += String(chunk)))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(body) }))
    })
    socket.on("error", reject)
    socket.on("open", () =>
      resolve({
        socket,
        closed,
        type: (request) => socket.send(Buffer.from(typeof request === "string" ? request : JSON.stringify(request))),
        until: (pattern) =>
          new Promise((found) => {
            look = () => {
              if (!pattern.test(text)) return
              found(text)
              text = ""
            }
            look()
          })
      })
    )
  })

/** A terminal that the server does not refuse. */
export const opened = async (...args: Parameters<typeof openTerminal>): Promise<Opened> => {
  const terminal = await openTerminal(...args)
  if ("status" in terminal) throw new Error(`refused with ${terminal.status}`)
  return terminal
}
