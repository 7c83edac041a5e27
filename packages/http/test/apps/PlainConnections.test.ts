import { describe, expect, it } from "@effect/vitest"
import type { DirectStream } from "@atelier/core/network"
import { Effect, Fiber, type Scope } from "effect"
import { AppFailed } from "../../src/apps/appReach.js"
import { type PlainConnection, PlainConnections } from "../../src/apps/PlainConnections.js"

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/** A connection to an app, which answers each request at once unless it is `silent`. */
const anApp = (isSilent = false) => {
  const said: Array<Uint8Array | null | Error> = []
  let isClosed = false
  let ready: (() => void) | undefined
  const say = (what: string | null | Error): void => {
    said.push(typeof what === "string" ? Buffer.from(what) : what)
    const heard = ready
    ready = undefined
    heard?.()
  }
  const stream: DirectStream = {
    take: (next) => {
      const [first] = said
      if (first === undefined) ready = next
      // The end and an error stay
      else if (first instanceof Uint8Array) said.shift()
      return first
    },
    put: (_bytes, done) => {
      done()
      if (!isSilent) say(answer)
    },
    finish: () => undefined
  }
  let silence: (error: Error) => void = () => undefined
  const open = (onIdle: (error: Error) => void): Effect.Effect<DirectStream, never, Scope.Scope> => {
    silence = onIdle
    return Effect.as(
      Effect.addFinalizer(() => Effect.sync(() => void (isClosed = true))),
      stream
    )
  }
  return { open, say, isClosed: () => isClosed, silence: (error: Error) => silence(error) }
}

type App = ReturnType<typeof anApp>

const opened = (connections: PlainConnections, agentId: string, key: string, { open }: Pick<App, "open">) =>
  Effect.async<PlainConnection>((resume) => {
    connections.open({ agentId, key, open }, (connection) => {
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
  it.scoped("are half of an agent's streams, of one app or of several", () =>
    Effect.gen(function* () {
      const connections = yield* make
      for (const keys of [1, 4]) {
        const apps = Array.from({ length: 140 }, () => anApp())
        const all = yield* Effect.forEach(apps, (app, at) => opened(connections, `agent of ${keys}`, `app ${at % keys} of ${keys}`, app))
        yield* Effect.forEach(all, ask)
        expect(apps.filter(({ isClosed }) => !isClosed()).length).toBe(128)
      }
      expect(connections.take("app 0 of 1")).toBeDefined()
      expect(connections.take("no app")).toBeUndefined()
    })
  )

  it.scoped("carry one request after the other, and end with bytes that no request has asked for", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const app = anApp()
      const connection = yield* opened(connections, "one", "app", app)
      expect(yield* ask(connection)).toBe(true)
      expect(connections.take("app")).toBe(connection)
      expect(yield* ask(connection)).toBe(true)
      app.say(answer)
      expect(connections.take("app")).toBeUndefined()
      expect(app.isClosed()).toBe(true)
    })
  )

  it.scoped("are stale for a request only where the app has closed them", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const failed = (broken: (app: App) => void, isNew = false) =>
        Effect.gen(function* () {
          const app = anApp(true)
          const connection = yield* opened(connections, "one", "app", app)
          if (!isNew) {
            const answered = yield* Effect.fork(ask(connection))
            yield* Effect.yieldNow()
            app.say(answer)
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
            broken(app)
          })
        })
      const lost = new Error("the agent has gone")
      expect(yield* failed(({ say }) => say(null))).toBe(true)
      expect(yield* failed(({ say }) => say(lost))).toBe(true)
      expect(yield* failed(({ say }) => say(lost), true)).toBe(false)
      expect(yield* failed(({ silence }) => silence(new AppFailed({ message: "The application is silent for too long." })))).toBe(false)
    })
  )

  it.scoped("that were opened for a request that went may have been closed since", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const app = anApp(true)
      yield* Effect.sync(() => connections.open({ agentId: "one", key: "app", open: app.open }, () => false))
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
        app.say(null)
      })
      expect(yield* isStale).toBe(true)
    })
  )

  it.scoped("break a request off whose connection has ended before it is sent", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const app = anApp()
      app.say(answer)
      const connection = yield* opened(connections, "one", "app", app)
      const unexpected = (): void => undefined
      const broken = Effect.async<string>((resume) => {
        const told = ({ message }: Error): void => resume(Effect.succeed(message))
        connection.send("GET / HTTP/1.1\r\n\r\n", false, {
          head: unexpected,
          data: unexpected,
          end: unexpected,
          fail: unexpected,
          broken: told
        })
      })
      expect(yield* broken).toBe("It broke the connection off without an answer.")
    })
  )

  it.scoped("are not kept if they have ended by the time they are open", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const app = anApp()
      app.say(null)
      const isOpen = Effect.async<void>((resume) => {
        connections.open({ agentId: "one", key: "app", open: app.open }, () => {
          resume(Effect.void)
          // Its request has gone
          return false
        })
      })
      yield* isOpen
      expect(app.isClosed()).toBe(true)
      expect(connections.take("app")).toBeUndefined()
    })
  )

  it.scoped("are read no further while the client takes no more", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const app = anApp(true)
      const connection = yield* opened(connections, "one", "app", app)
      const heard: Array<string> = []
      connection.send("GET / HTTP/1.1\r\n\r\n", false, {
        head: () => undefined,
        data: (bytes) => {
          heard.push(Buffer.from(bytes).toString())
          connection.pause()
        },
        end: () => void heard.push("end"),
        fail: (message) => void heard.push(message),
        broken: ({ message }) => void heard.push(message)
      })
      app.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
      app.say("ab")
      app.say("cd")
      expect(heard).toStrictEqual(["ab"])
      connection.resume()
      expect(heard).toStrictEqual(["ab", "cd", "end"])
    })
  )
})
