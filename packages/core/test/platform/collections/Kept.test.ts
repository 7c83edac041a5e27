import { describe, expect, it } from "@effect/vitest"
import { keptFor } from "@atelier/core/platform"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { aClockToSetBack } from "../../../../../test/store/time.js"

describe("a value that is kept for a time", () => {
  it.effect("is made again after it, and after a failure", () =>
    Effect.gen(function* () {
      let made = 0
      const value = yield* keptFor("1 minute")(Effect.suspend(() => (++made === 1 ? Effect.fail("away") : Effect.succeed(made))))
      expect(yield* Effect.flip(value)).toBe("away")
      expect([yield* value, yield* value]).toStrictEqual([2, 2])
      yield* TestClock.adjust("1 minute")
      expect(yield* value).toBe(3)
    })
  )

  it.effect("is made for those that stay when the first caller goes", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<string>()
      const value = yield* keptFor("1 minute")(Deferred.await(gate))
      const leaving = yield* Effect.fork(value)
      const staying = yield* Effect.fork(value)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(leaving)
      yield* Deferred.succeed(gate, "made")
      expect([yield* Fiber.join(staying), yield* value]).toStrictEqual(["made", "made"])
    })
  )

  it.effect("is made again in time although the clock was set back", () =>
    Effect.gen(function* () {
      const { clock, setBack } = yield* aClockToSetBack
      let made = 0
      const value = Effect.withClock(yield* Effect.withClock(keptFor("1 minute")(Effect.sync(() => ++made)), clock), clock)
      expect(yield* value).toBe(1)
      setBack(3_600_000)
      yield* TestClock.adjust("1 minute")
      expect(yield* value).toBe(2)
    })
  )
})
