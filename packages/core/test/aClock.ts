import { Clock, Effect } from "effect"

/** A machine's clock that is set by so many milliseconds, and otherwise goes as the test's: by the monotonic time, nothing happens then. */
export const aClock = Effect.map(Effect.clock, (clock) => {
  let offset = 0
  const millis = (): number => clock.unsafeCurrentTimeMillis() + offset
  const skewed: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    currentTimeMillis: Effect.sync(millis),
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeNanos: clock.currentTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return { skewed, millis, set: (by: number): void => void (offset = by) }
})
