import { NodeKeySets } from "@atelier/node"
import { it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import type { OAuth2App } from "@atelier/core/oauth2"
import { expect } from "vitest"
import { makeClientKeys } from "../../src/oauth2/clientKeys.js"

const app = { metadata: { jwks_uri: "https://client.example/keys" } } as Pick<OAuth2App, "metadata"> as OAuth2App
const keySet = (kid: string) => JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x: "a", kid }] })

it.effect("an unknown key has the address asked again at most once a minute", () =>
  Effect.gen(function* () {
    const answers = ["one", "two", "three"]
    let asked = 0
    const keysOf = makeClientKeys(() => Effect.sync(() => keySet(answers[asked++] ?? "")))
    const kid = (isRenewed: boolean) => Effect.map(keysOf(app, isRenewed), (keys) => keys?.keys[0]?.kid)
    expect([yield* kid(false), yield* kid(false), yield* kid(true)]).toStrictEqual(["one", "one", "one"])
    yield* TestClock.adjust("61 seconds")
    expect([yield* kid(false), yield* kid(true), yield* kid(true)]).toStrictEqual(["one", "two", "two"])
    yield* TestClock.adjust("11 minutes")
    expect([yield* kid(false), asked]).toStrictEqual(["three", 3])
  })
)

it.effect("known keys are used for an hour while their address is away", () =>
  Effect.gen(function* () {
    const away = new NodeKeySets.KeySetUnavailable({ message: "away" })
    const answers = [away, Effect.succeed(keySet("one")), away, Effect.succeed("{}")]
    let asked = 0
    const keysOf = makeClientKeys(() => answers[asked++] ?? away)
    const kid = Effect.map(keysOf(app, false), (keys) => keys?.keys[0]?.kid)
    expect([yield* kid, yield* kid, asked]).toStrictEqual([undefined, undefined, 1])
    yield* TestClock.adjust("61 seconds")
    expect(yield* kid).toBe("one")
    for (const _ of [1, 2]) {
      yield* TestClock.adjust("11 minutes")
      expect([yield* kid, yield* kid]).toStrictEqual(["one", "one"])
    }
    expect(asked).toBe(4)
    yield* TestClock.adjust("39 minutes")
    expect([yield* kid, yield* kid, asked]).toStrictEqual([undefined, undefined, 5])
  })
)

it.effect("requests that come together are one question", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<string>()
    let asked = 0
    const keysOf = makeClientKeys(() => Effect.suspend(() => (asked++, Deferred.await(answer))))
    const waiting = yield* Effect.fork(
      Effect.all(
        [1, 2, 3].map(() => keysOf(app, false)),
        { concurrency: "unbounded" }
      )
    )
    yield* Effect.yieldNow()
    yield* Deferred.succeed(answer, keySet("one"))
    const found = yield* Fiber.join(waiting)
    expect([found.map((keys) => keys?.keys[0]?.kid), asked]).toStrictEqual([["one", "one", "one"], 1])
  })
)
