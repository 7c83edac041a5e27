/** `port-forward`: ports of a workspace on this machine. */
import type { Client } from "@atelier/client"
import { connectPort } from "@atelier/client/reach"
import { once } from "node:events"
import { createServer, type Server, type Socket } from "node:net"
import { Failure, failureOf, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { reachSandbox } from "./reachSandbox.js"

export interface Forward {
  readonly host: string
  readonly local: number
  readonly remote: number
}

/** Reads `REMOTE`, `LOCAL:REMOTE` or `HOST:LOCAL:REMOTE`; local port 0 takes a free one. */
export const readForward = (text: string): Forward => {
  if (/\/udp$|^udp:/i.test(text)) throw usage(`"${text}": UDP cannot be forwarded.`, "only TCP can.")
  const [, host = "127.0.0.1", first = "", second = first] = /^(?:(\[[^\]]+\]|[^:]+):(?=\d+:))?(\d+)(?::(\d+))?$/.exec(text) ?? []
  const [local, remote] = [Number(first), Number(second)]
  if (first === "" || local > 65_535 || remote > 65_535 || remote === 0) {
    throw usage(`"${text}": must be PORT, LOCAL:PORT or ADDRESS:LOCAL:PORT, with ports up to 65535.`)
  }
  return { host: host.replace(/^\[|\]$/g, ""), local, remote }
}

/** Joins a local connection with one to a port of a workspace, until either ends. */
export const join = async (client: Client, agent: string, port: number, socket: Socket, signal: AbortSignal): Promise<void> => {
  socket.on("error", () => {})
  const connection = await connectPort(client, { agent, port }, { signal })
  const writer = connection.writable.getWriter()
  const outward = async (): Promise<void> => {
    for await (const chunk of socket) await writer.write(new Uint8Array(chunk as Buffer))
    await writer.close()
  }
  const inward = async (): Promise<void> => {
    for await (const bytes of connection.readable)
      if (!socket.write(bytes)) await Promise.race([once(socket, "drain"), once(socket, "close")])
    socket.end()
  }
  try {
    await Promise.all([outward(), inward()])
  } finally {
    socket.destroy()
    writer.abort().catch(() => {})
  }
}

/** Tells why a connection to a port ended that was taken on this machine. */
export const tellLost = (port: number, error: unknown, { out, program, signal }: Session): void => {
  const { details, message } = failureOf(error, program)
  if (!signal.aborted) out.warn([`port ${port}: ${message}`, ...details].join(" "))
}

/** Listens on this machine; answers the port. */
export const listen = async (server: Server, host: string, port: number): Promise<number> => {
  server.listen(port, host)
  try {
    await once(server, "listening")
  } catch (error) {
    throw new Failure({ message: `${host}:${port} cannot be listened on: ${error instanceof Error ? error.message : String(error)}` })
  }
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : port
}

/** Waits for the interruption. */
export const untilInterrupted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    return signal.addEventListener("abort", () => reject(signal.reason))
  })

export const portForward = async (
  { ports, workspace }: { readonly ports: ReadonlyArray<string>; readonly workspace: string },
  session: Session
): Promise<void> => {
  const { out, signal } = session
  const forwards = ports.map(readForward)
  const client = await session.liveClient()
  const { agentId } = await reachSandbox(client, workspace, session)
  const servers: Array<Server> = []
  try {
    for (const { host, local, remote } of forwards) {
      const server = createServer((socket) => {
        join(client, agentId, remote, socket, signal).catch((error: unknown) => {
          socket.destroy()
          tellLost(remote, error, session)
        })
      })
      servers.push(server)
      const port = await listen(server, host, local)
      out.row({ host, local: port, remote }, `${host}:${port} is port ${remote} of ${workspace}`)
    }
    await untilInterrupted(signal)
  } finally {
    for (const server of servers) server.close()
  }
}
