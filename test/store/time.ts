/** Time that tests move themselves, beside work that takes real time. */
import { Clock, type Duration, Effect, Fiber, Option, TestClock } from "effect"
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

/** The clock in force, whose time of the day can be set back by so many milliseconds. */
export const aClockToSetBack = Effect.map(Effect.clock, (clock) => {
  let behind = 0
  const millis = (): number => clock.unsafeCurrentTimeMillis() - behind
  const settable: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: clock.currentTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return { clock: settable, setBack: (milliseconds: number): void => void (behind += milliseconds) }
})
