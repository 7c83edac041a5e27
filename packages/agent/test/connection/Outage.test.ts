import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as OutageReport from "../../src/connection/OutageReport.js"
import { reasonOf } from "../../src/connection/Unreachable.js"
import { aConfig, folder } from "../TestServer.js"

/** What the engine finds; it takes the file away. */
const aReport = Effect.gen(function* () {
  const home = yield* folder
  const file = join(home, "main.outage")
  const url = new URL("http://user:secret@dev.localhost:3000/base/?key=secret")
  const make = OutageReport.make(aConfig(url, home, { outageFile: file }))
  return { file, make, text: () => (existsSync(file) ? readFileSync(file, "utf8") : undefined) }
})

describe("an outage", () => {
  const first = "The agent has not reached http://dev.localhost:3000/base for 30 seconds: connection refused\n"

  it.scoped("is reported once, after 30 seconds, with the latest reason and without secrets", () =>
    Effect.gen(function* () {
      const { file, make, text } = yield* aReport
      const outage = yield* make
      yield* TestClock.adjust("29 seconds")
      yield* outage.failed("host name not found")
      expect(text()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      yield* outage.failed("connection\n refused")
      expect(text()).toBe(first)
      yield* Effect.promise(() => import("node:fs/promises").then(({ rm }) => rm(file)))
      yield* TestClock.adjust("1 hour")
      yield* outage.failed("connection refused")
      expect(text()).toBeUndefined()
    })
  )

  it.scoped("ends once the server is reached: the next one is counted from its own start", () =>
    Effect.gen(function* () {
      const { file, make, text } = yield* aReport
      writeFileSync(file, "of an earlier process")
      const outage = yield* make
      expect(text()).toBeUndefined()
      yield* TestClock.adjust("30 seconds")
      yield* outage.failed("connection refused")
      expect(text()).toBe(first)
      yield* outage.reached
      expect(text()).toBeUndefined()
      yield* TestClock.adjust("1 hour")
      yield* outage.failed("closed by the server")
      expect(text()).toBeUndefined()
      yield* TestClock.adjust("30 seconds")
      yield* outage.failed("connection refused")
      expect(text()).toBe(first)
    })
  )
})

describe("the reason why a server is not reached", () => {
  const failed = (code: string, message: string) => Object.assign(new Error(message), { code })
  it.each([
    [failed("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:3000"), "connection refused: connect ECONNREFUSED 127.0.0.1:3000"],
    // The failures of a name with several addresses
    [
      new AggregateError([failed("ECONNREFUSED", "connect ::1:3000"), failed("ETIMEDOUT", "connect 127.0.0.1:3000")]),
      "connection refused: connect ::1:3000, no answer from the host: connect 127.0.0.1:3000"
    ],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "connection refused"],
    [failed("ENOTFOUND", "getaddrinfo ENOTFOUND x"), "host name not found: getaddrinfo ENOTFOUND x"],
    [failed("SELF_SIGNED_CERT_IN_CHAIN", "self-signed"), "certificate not trusted: self-signed"],
    [new Error("The server does not answer"), "The server does not answer"]
  ])("is told in words: %s", (error, reason) => expect(reasonOf(error)).toBe(reason))
})
