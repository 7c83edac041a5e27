import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { once } from "node:events"
import { Duplex } from "node:stream"
import { AppFailed } from "../../src/apps/appReach.js"
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

  it.scoped("are stale for a request only where the app has closed them", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const failed = (broken: (socket: Duplex) => void, isNew = false) =>
        Effect.gen(function* () {
          const socket: Duplex = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
          const connection = yield* opened(connections, "one", "app", socket)
          if (!isNew) {
            const answered = yield* Effect.fork(ask(connection))
            yield* Effect.yieldNow()
            socket.push(answer)
            yield* Fiber.join(answered)
            connections.take("app")
          }
          return yield* Effect.async<boolean>((resume) => {
            const unexpected = (): void => resume(Effect.dieMessage("the connection is broken"))
            connection.send("GET / HTTP/1.1\r\n\r\n", false, {
              head: unexpected,
              data: unexpected,
              end: unexpected,
              fail: unexpected,
              broken: (_, isStale) => resume(Effect.succeed(isStale))
            })
            broken(socket)
          })
        })
      expect(yield* failed((socket) => void socket.push(null))).toBe(true)
      expect(yield* failed((socket) => void socket.destroy())).toBe(true)
      expect(yield* failed((socket) => void socket.destroy(), true)).toBe(false)
      expect(yield* failed((socket) => void socket.destroy(new AppFailed({ message: "The application is silent for too long." })))).toBe(
        false
      )
    })
  )

  it.scoped("that were opened for a request that went may have been closed since", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const socket: Duplex = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
      yield* Effect.sync(() => connections.open({ agentId: "one", key: "app", open: Effect.succeed(socket) }, () => false))
      const connection = yield* Effect.repeat(
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => connections.take("app"))
        ),
        { until: (taken) => taken !== undefined }
      )
      const isStale = Effect.async<boolean>((resume) => {
        const unexpected = (): void => resume(Effect.dieMessage("the connection is broken"))
        const broken = (_: Error, isStale: boolean): void => resume(Effect.succeed(isStale))
        connection?.send("GET / HTTP/1.1\r\n\r\n", false, { head: unexpected, data: unexpected, end: unexpected, fail: unexpected, broken })
        socket.push(null)
      })
      expect(yield* isStale).toBe(true)
    })
  )
})
