/** Sweeps of all sessions of a process by one fiber: with a fiber and a timer for each, thousands of sessions take a tenth of a core at rest. */
import { Clock, Context, Duration, Effect } from "effect"

/** How often the connections and the streams of a session are checked for being overdue. */
export const sweepEvery = Duration.seconds(1)

/** A session that is swept. */
export interface Swept {
  readonly sweep: () => void
  /** Called with why a sweep died. It is the last one. */
  readonly died: (defect: unknown) => void
}

/** The open sessions, by the clock that they go by. */
const sessionsOf = new WeakMap<Clock.Clock, Set<Swept>>()

const sweepOne = (sessions: Set<Swept>, session: Swept): void => {
  // The sweeps of all other sessions go on
  try {
    session.sweep()
  } catch (defect) {
    sessions.delete(session)
    session.died(defect)
  }
}

/** Sweeps until there are no sessions. */
const sweeping = (clock: Clock.Clock, sessions: Set<Swept>): Effect.Effect<void> =>
  Effect.suspend(() => {
    for (const session of sessions) sweepOne(sessions, session)
    if (sessions.size > 0) return Effect.delay(sweeping(clock, sessions), sweepEvery)
    sessionsOf.delete(clock)
    return Effect.void
  })

/** Sweeps a session after at most a second and then every second, by the clock at hand, until `end`. */
export const begin = (session: Swept): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.clockWith((clock) => {
      const known = sessionsOf.get(clock)
      const sessions = known ?? new Set()
      sessions.add(session)
      if (known !== undefined) return Effect.void
      sessionsOf.set(clock, sessions)
      // Without the services of the session that is the first one: they would be kept as long as there is any
      return Effect.delay(sweeping(clock, sessions), sweepEvery).pipe(
        Effect.mapInputContext<never, never>(() => Context.empty()),
        Effect.forkDaemon,
        Effect.asVoid
      )
    })
  )

/** Sweeps a session no longer. */
export const end = (session: Swept, clock: Clock.Clock): void => void sessionsOf.get(clock)?.delete(session)
