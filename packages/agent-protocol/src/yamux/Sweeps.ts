/** Sweeps of all sessions of a process by one fiber: with a fiber and a timer for each, thousands of sessions take a tenth of a core at rest. */
import { type Clock, Context, Duration, Effect, Scope } from "effect"

/** How often the connections and the streams of a session are checked for being overdue. */
export const sweepEvery = Duration.seconds(1)

/** The sweeps of the open sessions, by the clock that they go by. */
const sweepsOf = new WeakMap<Clock.Clock, Set<() => void>>()

/** Sweeps until there are no sessions. */
const sweeping = (clock: Clock.Clock, sweeps: Set<() => void>): Effect.Effect<void> =>
  Effect.suspend(() => {
    for (const sweep of sweeps) sweep()
    if (sweeps.size > 0) return Effect.delay(sweeping(clock, sweeps), sweepEvery)
    sweepsOf.delete(clock)
    return Effect.void
  })

/** Calls a function after at most a second and then every second, until the scope closes. One that throws is not called again, and `died` is told why. */
export const sweptScoped = (sweep: () => void, died: (defect: unknown) => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const known = sweepsOf.get(clock)
      const sweeps = known ?? new Set<() => void>()
      const own = (): void => {
        // The sweeps of all other sessions go on
        try {
          sweep()
        } catch (defect) {
          sweeps.delete(own)
          died(defect)
        }
      }
      // `Effect.addFinalizer` would keep a copy of the fiber's references for each session
      yield* Scope.addFinalizer(
        yield* Effect.scope,
        Effect.sync(() => sweeps.delete(own))
      )
      sweeps.add(own)
      if (known !== undefined) return
      sweepsOf.set(clock, sweeps)
      // Without the services of the session that is the first one: they would be kept as long as there is any
      yield* Effect.delay(sweeping(clock, sweeps), sweepEvery).pipe(
        Effect.mapInputContext<never, never>(() => Context.empty()),
        Effect.forkDaemon
      )
    })
  )
