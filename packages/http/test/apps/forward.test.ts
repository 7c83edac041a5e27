import { describe, it } from "@effect/vitest"
import { AgentDialer, type AgentStream } from "@atelier/core/network"
import { makeAlarms, Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Exit, Fiber, Option, Queue, TestClock } from "effect"
import { Readable } from "node:stream"
import { expect } from "vitest"
import { AppConnections } from "../../src/apps/AppConnections.js"
import { placeKey } from "../../src/apps/appReach.js"
import { type Exchange, exchange, type KeptConnections } from "../../src/apps/forward.js"
import { PlainConnections } from "../../src/apps/PlainConnections.js"
import { Heartbeat } from "../../src/server/operate/Heartbeat.js"

const id = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")

const asked = (signal: AbortSignal, method = "GET"): Exchange => ({
  target: {
    organization_id: id,
    workspace_id: id,
    workspace_name: "dev",
    workspace_owner_id: id,
    agent_id: id,
    agent_name: "main",
    access_method: "path",
    type: "workspace_app",
    slug_or_port: "web",
    url: "http://localhost:8080",
    cors_behavior: "simple"
  },
  url: new URL("http://localhost:8080"),
  method,
  path: "/",
  headers: ["Host", "atelier.test"],
  body: Readable.from([]),
  framing: undefined,
  upgrade: undefined,
  idle: "10 minutes",
  signal
})

/** Connections of one test's own. */
const someConnections = Effect.acquireRelease(
  Effect.map(Effect.clock, (clock) => ({ plain: new PlainConnections(clock), secured: new AppConnections() })),
  ({ plain, secured }) =>
    Effect.sync(() => {
      plain.destroy()
      secured.destroy()
    })
)

/** Provides the way to apps, with alarms of its own. */
const dialedBy =
  (dialer: AgentDialer["Type"]) =>
  <A, E, R>(exchanged: Effect.Effect<A, E, R>) =>
    Effect.flatMap(makeAlarms, (alarms) => Effect.provideService(exchanged, Heartbeat, alarms)).pipe(
      Effect.provideService(AgentDialer, dialer)
    )

const takingAll = { write: () => Effect.void, finish: Effect.void }

/** Exchanges a request with an app that takes all and says nothing. */
const withSilentApp = (signal: AbortSignal, dial: Effect.Effect<AgentStream> = Effect.succeed({ read: Effect.never, ...takingAll })) =>
  Effect.flatMap(someConnections, (connections) => exchange(asked(signal), connections)).pipe(dialedBy({ dial: () => dial }))

/** Exchanges a request with an app that answers so once it is asked. */
const withApp = (request: Exchange, connections: KeptConnections, answer: string, dialed: () => void = () => undefined) =>
  Effect.gen(function* () {
    const said = yield* Queue.unbounded<Option.Option<Uint8Array>>()
    const write = () => Effect.asVoid(Queue.offer(said, Option.some(Buffer.from(answer))))
    return yield* exchange(request, connections).pipe(
      dialedBy({
        dial: () =>
          Effect.sync(() => {
            dialed()
            return { ...takingAll, read: Queue.take(said), write }
          })
      })
    )
  })

describe("an exchange with an app that does not answer", () => {
  it.scoped("fails after ten minutes", () =>
    Effect.gen(function* () {
      const answer = yield* Effect.fork(Effect.flip(withSilentApp(new AbortController().signal)))
      yield* TestClock.adjust("9 minutes")
      expect(Option.isNone(yield* Fiber.poll(answer))).toBe(true)
      yield* TestClock.adjust("3 minutes")
      expect(yield* Fiber.join(answer)).toMatchObject({ _tag: "AppFailed", message: "The application is silent for too long." })
    })
  )

  it.scoped("is interrupted by its signal, also one that was aborted before", () =>
    Effect.gen(function* () {
      for (const when of ["during", "before"]) {
        const ending = new AbortController()
        if (when === "before") ending.abort()
        const answer = yield* Effect.fork(withSilentApp(ending.signal))
        yield* Effect.yieldNow()
        ending.abort()
        expect(Exit.isInterrupted(yield* Fiber.await(answer))).toBe(true)
      }
    })
  )

  it.scoped("is interrupted by its signal while the app is being reached", () =>
    Effect.gen(function* () {
      const ending = new AbortController()
      const answer = yield* Effect.fork(withSilentApp(ending.signal, Effect.never))
      yield* Effect.yieldNow()
      ending.abort()
      expect(Exit.isInterrupted(yield* Fiber.await(answer))).toBe(true)
    })
  )
})

describe("an exchange that ends while the app is being reached", () => {
  for (const url of ["http://localhost:8080", "https://localhost:8443"]) {
    it.scoped(`gives the way to ${url} up`, () =>
      Effect.gen(function* () {
        const connections = yield* someConnections
        for (const end of ["its client leaves", "its right ends"]) {
          const begun = yield* Deferred.make<void>()
          const givenUp = yield* Deferred.make<void>()
          const ending = new AbortController()
          const dialing = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
          const dial = () => Effect.onInterrupt(dialing, () => Deferred.succeed(givenUp, undefined))
          const answer = yield* exchange({ ...asked(ending.signal), url: new URL(url) }, connections).pipe(dialedBy({ dial }), Effect.fork)
          yield* Deferred.await(begun)
          if (end === "its right ends") ending.abort()
          else yield* Fiber.interruptFork(answer)
          yield* Deferred.await(givenUp)
          expect(Exit.isInterrupted(yield* Fiber.await(answer))).toBe(true)
        }
      })
    )
  }
})

describe("an exchange whose body breaks off", () => {
  it.scoped("fails, and tells the app of no end", () =>
    Effect.gen(function* () {
      const connections = yield* someConnections
      const written = yield* Queue.unbounded<string>()
      const write = (bytes: Uint8Array) => Effect.asVoid(Queue.offer(written, Buffer.from(bytes).toString()))
      const body = Readable.from(
        (async function* () {
          yield "half"
          throw new Error("The source has failed.")
        })()
      )
      const request: Exchange = { ...asked(new AbortController().signal, "PUT"), body, framing: "chunked" }
      const failure = yield* Effect.flip(exchange(request, connections)).pipe(
        dialedBy({ dial: () => Effect.succeed({ read: Effect.never, write, finish: Effect.void }) })
      )
      expect(failure).toMatchObject({ _tag: "AppFailed", message: "The request ended before its body did." })
      expect([...(yield* Queue.takeAll(written))].join("")).not.toContain("0\r\n\r\n")
    })
  )
})

describe("an exchange on a connection that is kept", () => {
  it.scoped("fails after ten minutes, and is not sent again", () =>
    Effect.gen(function* () {
      const connections = yield* someConnections
      const { signal } = new AbortController()
      let isSilent = false
      let [dialed, sent] = [0, 0]
      const said = yield* Queue.unbounded<Option.Option<Uint8Array>>()
      const write = () =>
        Effect.suspend(() => {
          sent++
          return isSilent ? Effect.void : Effect.asVoid(Queue.offer(said, Option.some(Buffer.from("HTTP/1.1 204 No Content\r\n\r\n"))))
        })
      const dial = () => Effect.sync(() => (dialed++, { read: Queue.take(said), write, finish: Effect.void }))
      const ask = Effect.scoped(exchange(asked(signal), connections)).pipe(dialedBy({ dial }))
      yield* ask
      isSilent = true
      const answer = yield* Effect.fork(Effect.flip(ask))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("13 minutes")
      expect(yield* Fiber.join(answer)).toMatchObject({ _tag: "AppFailed", message: "The application is silent for too long." })
      expect({ dialed, sent }).toStrictEqual({ dialed: 1, sent: 2 })
    })
  )
})

describe("an exchange with an app that answers", () => {
  it.scoped("gives its connection back after HEAD, whose answer has no body to read", () =>
    Effect.gen(function* () {
      const connections = yield* someConnections
      let dialed = 0
      const { signal } = new AbortController()
      const ask = Effect.scoped(
        withApp(asked(signal, "HEAD"), connections, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", () => void dialed++)
      )
      expect((yield* ask)._tag).toBe("Response")
      expect(connections.plain.take(placeKey(asked(signal)))).toBeDefined()
      expect(dialed).toBe(1)
    })
  )

  it.scoped("breaks off by its signal an answer that has come but is not read yet", () =>
    Effect.gen(function* () {
      const ending = new AbortController()
      const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
      const { response } = yield* withApp(asked(ending.signal), yield* someConnections, chunked)
      const failure = Effect.async<string>((resume) => {
        response.body.once("error", ({ message }) => resume(Effect.succeed(message)))
        response.body.once("end", () => resume(Effect.succeed("it ends as if it were whole")))
        ending.abort()
      })
      expect(yield* failure).toBe("The exchange has been ended.")
    })
  )
})
