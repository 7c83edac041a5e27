/**
 * Time that only goes forward, for ages and pauses. The clock of the day may be set back, for example once a machine that has just started hears of the right time: what should be
 * over after a second would last for as long as the clock was set back.
 */
import { Clock, Effect } from "effect"

/** Milliseconds of a clock since an instant that says nothing. */
export const of = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1_000_000

/** Milliseconds since an instant that says nothing. */
export const now: Effect.Effect<number> = Effect.map(Effect.clock, of)

/** A clock whose time of the day is that of `of`, for functions of Effect that compare times of the day. */
export const clock = (base: Clock.Clock): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => of(base),
  unsafeCurrentTimeNanos: () => base.unsafeCurrentTimeNanos(),
  currentTimeMillis: Effect.sync(() => of(base)),
  currentTimeNanos: base.currentTimeNanos,
  sleep: (duration) => base.sleep(duration)
})
