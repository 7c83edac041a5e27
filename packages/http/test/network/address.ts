import { connect, createServer, type Server, type Socket } from "node:net"
import type { AgentServer } from "../agents/AgentServer.js"

/** An address that is known before the server behind it. */
export const address = async () => {
  const sockets = new Set<Socket>()
  let target = 0
  let taken = 0
  const server: Server = createServer((incoming) => {
    taken += 1
    const outgoing = connect(target, "127.0.0.1")
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => undefined).on("close", () => other.destroy())
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const listening = server.address()
  const port = typeof listening === "object" && listening !== null ? listening.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: ({ url }: AgentServer) => void (target = Number(new URL(url).port)),
    /** How many connections have been made. */
    taken: () => taken,
    /** Breaks off every connection, as the end of a machine does. */
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
