import { Locks } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { freshDatabaseUrl } from "../../../test/databases.js"

/** A way to a database on which nothing comes through any more once it is blocked. */
const aWayTo = (url: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly block: () => void; readonly close: () => void }>((resume) => {
      const { hostname, port } = new URL(url)
      const sockets = new Set<Socket>()
      let isBlocked = false
      const forward = (from: Socket, to: Socket): void => {
        sockets.add(from)
        from.on("error", () => {})
        from.on("data", (bytes) => isBlocked || to.write(bytes)).on("end", () => isBlocked || to.end())
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
        resume(Effect.succeed({ url: way.href, block: () => (isBlocked = true), close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("a server that does not answer any more", () => {
  it.scopedLive("is not waited for at the end", () =>
    Effect.gen(function* () {
      const { block, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
      const scope = yield* Scope.make()
      const locks = Context.get(yield* Layer.buildWithScope(Postgres.layer({ url, maxConnections: 2 }), scope), Locks)
      expect(yield* locks.tryWith("reaper", Effect.succeed(1))).toStrictEqual(Option.some(1))
      block()
      yield* Scope.close(scope, Exit.void)
    })
  )
})
