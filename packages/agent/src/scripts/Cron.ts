import { Cron } from "croner"
import { Clock, Duration, Effect, Either } from "effect"

/**
 * Returns the first moment of a schedule after another, both in milliseconds since 1970, in local time; undefined if the schedule has no
 * later one.
 */
export type Schedule = (after: number) => number | undefined

/** Reads six fields: second, minute, hour, day of month, month, day of week; five leave out the second. The error says what is wrong with them. */
export const parse = (pattern: string): Either.Either<Schedule, string> =>
  Either.try({
    try: () => {
      const cron = new Cron(pattern, { paused: true, mode: "5-or-6-parts" })
      return (after: number) => cron.nextRun(new Date(after))?.getTime()
    },
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  })

/** The longest single sleep: a clock that is set, or stood still while the machine slept, is noticed after it. */
const longestSleep = 60_000

const sleepUntil = (moment: number): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    now >= moment ? Effect.void : Effect.zipRight(Effect.sleep(Duration.millis(Math.min(moment - now, longestSleep))), sleepUntil(moment))
  )

/** Runs an effect at every moment of a schedule; those that pass while it runs are left out. Ends with the schedule. */
export const at = <R>(schedule: Schedule, run: Effect.Effect<void, never, R>): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    for (;;) {
      const next = schedule(yield* Clock.currentTimeMillis)
      if (next === undefined) return
      yield* sleepUntil(next)
      yield* run
    }
  })
