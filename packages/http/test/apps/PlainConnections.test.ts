import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { Duplex } from "node:stream"
import { type PlainConnection, PlainConnections } from "../../src/apps/PlainConnections.js"

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/** A connection to an app that answers each request at once. */
const anApp = () => {
  const socket: Duplex = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => void (socket.push(answer), done()) })
  return socket
}

const opened = (connections: PlainConnections, agentId: string, key: string, socket: Duplex) =>
  Effect.async<PlainConnection>((resume) => {
    connections.open({ agentId, key, open: Effect.succeed(socket) }, (connection) => {
      if (connection instanceof Error) return true
      resume(Effect.succeed(connection))
      return true
    })
  })

const ask = (connection: PlainConnection) =>
  Effect.async<boolean>((resume) => {
    connection.send("GET / HTTP/1.1\r\n\r\n", false, {
      head: () => undefined,
      data: () => undefined,
      end: (isReusable) => resume(Effect.succeed(isReusable)),
      fail: (message) => resume(Effect.die(message)),
      broken: (error) => resume(Effect.die(error))
    })
  })

const make = Effect.acquireRelease(
  Effect.map(Effect.clock, (clock) => new PlainConnections(clock)),
  (connections) => Effect.sync(() => connections.destroy())
)

describe("unused connections to apps without TLS", () => {
  it.scoped("are 32 of an app and 64 of an agent", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const sockets = Array.from({ length: 80 }, anApp)
      const all = yield* Effect.forEach(sockets, (socket, at) => opened(connections, "one", `app ${at % 4}`, socket))
      yield* Effect.forEach(all, ask)
      expect(sockets.filter(({ destroyed }) => !destroyed).length).toBe(64)
      const many = Array.from({ length: 40 }, anApp)
      yield* Effect.forEach(yield* Effect.forEach(many, (socket) => opened(connections, "other", "app", socket)), ask)
      expect(many.filter(({ destroyed }) => !destroyed).length).toBe(32)
      expect(connections.take("app")).toBeDefined()
      expect(connections.take("no app")).toBeUndefined()
    })
  )

  it.scoped("carry one request after the other, and end with bytes that no request has asked for", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const socket = anApp()
      const connection = yield* opened(connections, "one", "app", socket)
      expect(yield* ask(connection)).toBe(true)
      expect(connections.take("app")).toBe(connection)
      expect(yield* ask(connection)).toBe(true)
      const closed = once(socket, "close")
      socket.push(answer)
      yield* Effect.promise(() => closed)
      expect(connections.take("app")).toBeUndefined()
    })
  )
})
