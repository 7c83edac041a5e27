import { Effect, type Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** A way to a server, as a network between. */
export interface Way {
  /** The address of the server, by this way. */
  readonly url: string
  /** Swallows everything from now on, while connections stay open and new ones are accepted. */
  readonly block: () => void
  readonly unblock: () => void
  /** Swallows everything on the connections that there are, for ever. New ones are served. */
  readonly silence: () => void
  /** Lets the answers on the connections that there are through slowly from now on: up to 64 KiB in 200 ms on each. */
  readonly slow: () => void
  /** Connections that have been made. */
  readonly connections: () => number
  readonly close: () => void
}

/**
 * A way to a server on which nothing comes through while it is blocked, nor ever on the connections that were made before it was silenced. The address
 * of a server that starts later is given as a function.
 */
export const aWayTo = (url: string | (() => string | undefined)): Effect.Effect<Way, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Way>((resume) => {
      const target = typeof url === "string" ? () => url : url
      const sockets = new Set<Socket>()
      const silent = new WeakSet<Socket>()
      const slowed = new WeakSet<Socket>()
      let isBlocked = false
      let connections = 0
      const forward = (from: Socket, to: Socket): void => {
        sockets.add(from)
        const isCut = (): boolean => isBlocked || silent.has(from)
        from.on("error", () => {})
        from.on("data", (bytes) => isCut() || to.write(bytes)).on("end", () => isCut() || to.end())
        from.on("data", () => {
          if (!slowed.has(from)) return
          from.pause()
          setTimeout(() => from.resume(), 200)
        })
        from.on("close", () => isCut() || to.destroy())
      }
      const server = createServer({ allowHalfOpen: true }, (client) => {
        connections += 1
        const place = target()
        if (place === undefined) return void client.destroy()
        const { hostname, port } = new URL(place)
        const outgoing = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
        forward(client, outgoing)
        forward(outgoing, client)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address === "string") return
        const way = new URL(typeof url === "string" ? url : "http://127.0.0.1")
        way.hostname = "127.0.0.1"
        way.port = String(address.port)
        const close = (): void => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        const silence = (): void => {
          for (const socket of sockets) silent.add(socket)
        }
        const slow = (): void => {
          for (const socket of sockets) slowed.add(socket)
        }
        resume(
          Effect.succeed({
            url: way.href,
            block: () => (isBlocked = true),
            unblock: () => (isBlocked = false),
            silence,
            slow,
            connections: () => connections,
            close
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
