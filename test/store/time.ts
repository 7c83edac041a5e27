/** Time that tests move themselves, beside work that takes real time. */
import { type Duration, Effect, Fiber, Option, TestClock } from "effect"
import { setImmediate } from "node:timers/promises"

/**
 * Waits for an effect, and moves the test's clock by `step` again and again until it ends. Where the effect, or what it waits for, asks a database before it
 * sleeps, one move could come too early: nothing would move the clock again.
 */
export const whilePassing = <A, E, R>(step: Duration.DurationInput, awaited: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(awaited)
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      yield* Effect.promise(() => setImmediate())
      yield* TestClock.adjust(step)
    }
    return yield* Fiber.join(fiber)
  })
