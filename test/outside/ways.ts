import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

interface Way {
  readonly url: string
  readonly block: () => void
  readonly unblock: () => void
  readonly silence: () => void
  readonly close: () => void
}

/** A way to a database on which nothing comes through while it is blocked, nor ever on the connections that were made before it was silenced. */
export const aWayTo = (url: string) =>
  Effect.acquireRelease(
    Effect.async<Way>((resume) => {
      const { hostname, port } = new URL(url)
      const sockets = new Set<Socket>()
      const silent = new WeakSet<Socket>()
      let isBlocked = false
      const forward = (from: Socket, to: Socket): void => {
        sockets.add(from)
        const isCut = (): boolean => isBlocked || silent.has(from)
        from.on("error", () => {})
        from.on("data", (bytes) => isCut() || to.write(bytes)).on("end", () => isCut() || to.end())
      }
      const server = createServer({ allowHalfOpen: true }, (client) => {
        const database = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
        forward(client, database)
        forward(database, client)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address === "string") return
        const way = new URL(url)
        way.hostname = "127.0.0.1"
        way.port = String(address.port)
        const close = (): void => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        const silence = (): void => {
          for (const socket of sockets) silent.add(socket)
        }
        resume(Effect.succeed({ url: way.href, block: () => (isBlocked = true), unblock: () => (isBlocked = false), silence, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
