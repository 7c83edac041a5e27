import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { createServer as createHttpServer } from "node:http"
import { createServer, type Socket } from "node:net"
import { after, askedPause, first, longestPause, next } from "../../src/connection/Backoff.js"
import { eventLoop, until } from "../Advancing.js"
import { runAgent } from "../TestServer.js"

const minute = 60_000

describe("the pause between attempts to connect", () => {
  const now = 10 * minute
  const attempts = { now, launchedAt: undefined, lostAt: undefined, isHurried: false }

  it("is short until the first connection, for a minute", () => {
    expect(longestPause({ ...attempts, launchedAt: now - minute + 1 })).toBe(1_000)
    expect(longestPause({ ...attempts, launchedAt: now - minute })).toBe(10_000)
  })

  it("is shortest for half a minute after a lost connection, and short for ten minutes", () => {
    expect(longestPause({ ...attempts, lostAt: now })).toBe(400)
    expect(longestPause({ ...attempts, lostAt: now - minute / 2 })).toBe(1_000)
    expect(longestPause({ ...attempts, lostAt: now - 10 * minute + 1 })).toBe(1_000)
    expect(longestPause({ ...attempts, lostAt: now - 10 * minute })).toBe(10_000)
    expect(longestPause(attempts)).toBe(10_000)
  })

  it("is short when the agent ends", () => {
    expect(longestPause({ ...attempts, lostAt: now - minute, isHurried: true })).toBe(1_000)
  })
})

describe("the count of attempts", () => {
  const tries = next(next(first))

  it("begins anew after a connection of three seconds", () => {
    expect(after(tries, { connectedAt: 0, now: 3_000 })).toStrictEqual({ attempt: 0, lostAt: 3_000 })
    expect(after(tries, { connectedAt: 0, now: 2_999 })).toStrictEqual({ ...tries, lostAt: 2_999 })
    expect(after({ ...tries, lostAt: 1 }, { connectedAt: 0, now: 2_999 })).toStrictEqual({ ...tries, lostAt: 1 })
  })

  it("goes on after an attempt that hung", () => {
    expect(after(tries, { connectedAt: undefined, now: minute })).toStrictEqual(tries)
  })
})

describe("the pause that an answer asks for", () => {
  it("is given in seconds or as a date, and is at most a minute", () => {
    const now = Date.parse("2026-01-01T00:00:00Z")
    expect(askedPause("5", now)).toBe(5_000)
    expect(askedPause("Thu, 01 Jan 2026 00:00:07 GMT", now)).toBe(7_000)
    expect(askedPause("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0)
    expect(askedPause("86400", now)).toBe(minute)
    expect(askedPause("soon", now)).toBe(0)
  })

  it.scoped("is kept before the next attempt", () =>
    Effect.gen(function* () {
      let attempts = 0
      const server = createHttpServer().on("upgrade", (_, socket) => {
        attempts += 1
        socket.end("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 20\r\nConnection: close\r\n\r\n")
      })
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close())
      )
      const address = server.address()
      yield* runAgent({ url: new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`) })
      yield* until(() => attempts === 1)
      yield* Effect.repeatN(eventLoop, 50)
      yield* TestClock.adjust("19999 millis")
      yield* Effect.repeatN(eventLoop, 50)
      expect(attempts).toBe(1)
      yield* TestClock.adjust("1 second")
      yield* until(() => attempts === 2)
    })
  )
})

/** A server that takes connections and answers none. */
const aSilentServer = Effect.acquireRelease(
  Effect.async<{ readonly url: URL; readonly sockets: ReadonlyArray<Socket>; readonly close: () => void }>((resume) => {
    const sockets: Array<Socket> = []
    const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined).resume()))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("the server listens on no port")
      resume(Effect.succeed({ url: new URL(`http://127.0.0.1:${address.port}`), sockets, close: () => server.close() }))
    })
  }),
  ({ close, sockets }) =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      close()
    })
)

it.scoped("a server that never answers is tried less and less often", () =>
  Effect.gen(function* () {
    const { sockets, url } = yield* aSilentServer
    yield* runAgent({ url })
    for (let count = 1; count <= 9; count++) {
      while (sockets.length < count) {
        yield* TestClock.adjust("1 second")
        // An attempt is given up after fifteen seconds, and takes some turns to arrive
        yield* Effect.repeatN(eventLoop, 20)
      }
      yield* TestClock.adjust("15 seconds")
      yield* until(() => sockets[count - 1]?.closed === true)
    }
    yield* TestClock.adjust("2 seconds")
    yield* Effect.repeatN(eventLoop, 50)
    expect(sockets).toHaveLength(9)
  })
)
