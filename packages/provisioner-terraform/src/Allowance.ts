/** How long the commands of a stage may run in all. */
import { Clock, Duration, Effect } from "effect"

export interface Allowance {
  /** What a command that it ends is told to be part of, with the limit. */
  readonly said: string
  /** What the commands so far have left. It begins with the first command. */
  readonly left: Effect.Effect<Duration.Duration>
  /** Runs an effect with a permit. The wait for it takes no time of the stage. */
  readonly holding: (lock: Effect.Semaphore) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Returns an allowance. `option` is what an operator sets to change the limit. */
export const makeAllowance = (stage: string, limit: Duration.DurationInput, option: string): Allowance => {
  const whole = Duration.toMillis(limit)
  let end: number | undefined
  return {
    said: `${stage} may take ${Duration.format(limit)} (option ${option})`,
    left: Effect.map(Clock.currentTimeMillis, (now) => {
      end ??= now + whole
      return Duration.millis(Math.max(0, end - now))
    }),
    holding: (lock) => (effect) =>
      Effect.flatMap(Clock.currentTimeMillis, (asked) =>
        lock.withPermits(1)(
          Effect.flatMap(Clock.currentTimeMillis, (begun) => {
            if (end !== undefined) end += begun - asked
            return effect
          })
        )
      )
  }
}
