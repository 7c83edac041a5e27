import { makeKeyedLock } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

describe("a lock with keys", () => {
  it.effect("runs one action per key at a time, and a waiter may give up", () =>
    Effect.gen(function* () {
      const locked = makeKeyedLock<string>()
      const order: Array<string> = []
      const end = yield* Deferred.make<void>()
      const says = (text: string) => Effect.sync(() => void order.push(text))
      const first = yield* Effect.fork(locked("a")(Effect.zipRight(Deferred.await(end), says("first"))))
      yield* Effect.yieldNow()
      const gone = yield* Effect.fork(locked("a")(says("gone")))
      const second = yield* Effect.fork(locked("a")(says("second")))
      yield* locked("b")(says("beside"))
      yield* Fiber.interrupt(gone)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      yield* locked("a")(says("third"))
      expect(order).toEqual(["beside", "first", "second", "third"])
    })
  )
})
