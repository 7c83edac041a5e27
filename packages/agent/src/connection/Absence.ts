import { Clock, Duration, Effect } from "effect"

/** How often a wait for the end of the connection looks at it. */
const lookInterval = Duration.seconds(1)

/** The times without a connection. */
export interface Absence {
  /** The connection has been lost. */
  readonly lost: Effect.Effect<void>
  /** An attempt to connect has failed. */
  readonly failed: Effect.Effect<void>
  /**
   * Completes once there has been no connection for so long, the time before the call included, and an attempt has failed since. An attempt without
   * an answer counts as failed after the same time.
   */
  readonly away: (duration: Duration.DurationInput) => Effect.Effect<void>
}

/** `connected` is open while there is a connection. The first absence begins now. */
export const make = (connected: Effect.Latch): Effect.Effect<Absence> =>
  Effect.gen(function* () {
    let lostAt = yield* Clock.currentTimeMillis
    const failure = yield* Effect.makeLatch()

    const over = (duration: Duration.Duration): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const rest = Duration.subtract(duration, Duration.millis(now - lostAt))
        return Effect.zip(Effect.sleep(rest), Effect.timeoutOption(failure.await, duration), { concurrent: true })
      })

    const away = (duration: Duration.DurationInput): Effect.Effect<void> =>
      Effect.raceFirst(Effect.as(connected.await, true), Effect.as(over(Duration.decode(duration)), false)).pipe(
        Effect.flatMap((isBack) => (isBack ? Effect.delay(away(duration), lookInterval) : Effect.void))
      )

    return {
      lost: Effect.map(Clock.currentTimeMillis, (now) => {
        lostAt = now
      }),
      failed: Effect.asVoid(failure.release),
      away
    }
  })
