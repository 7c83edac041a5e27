import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { createServer } from "node:http"
import { aClockToSetBack } from "../../../../../test/store/time.js"
import { discovery } from "../../../src/logins/OidcDiscovery.js"

/** A provider that tells its document and counts how often. */
const aProvider = Effect.acquireRelease(
  Effect.async<{ readonly url: URL; readonly reads: () => number; readonly close: () => void }>((resume) => {
    let reads = 0
    let issuer = ""
    const server = createServer((_, response) => {
      reads += 1
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      issuer = `http://127.0.0.1:${address.port}`
      resume(Effect.succeed({ url: new URL(issuer), reads: () => reads, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

it.scoped("a discovery document is read again in time although the clock was set back", () =>
  Effect.gen(function* () {
    const { clock, setBack } = yield* aClockToSetBack
    const { reads, url } = yield* aProvider
    const found = yield* Effect.withClock(
      discovery({ issuerUrl: url, clientId: "atelier", clientSecret: "", skipsIssuerChecks: true }),
      clock
    )
    const document = Effect.withClock(found, clock)
    yield* document
    expect(reads()).toBe(1)
    setBack(7_200_000)
    yield* TestClock.adjust("1 hour")
    yield* document
    expect(reads()).toBe(2)
  })
)
