/** Work of the agent that goes on until its scope closes. A failure or a defect of one turn is logged, and ends nothing. */
import { type Cause, Effect, type Schedule, type Scope } from "effect"

/** Milliseconds before the turn after a failure. The pause doubles with each further failure, up to the longest. */
const firstPause = 100
const longestPause = 10_000

/** The turn, which answers how often in a row it has failed. Of failures in a row the first is logged. */
const surviving = <E, R>(name: string, turn: Effect.Effect<unknown, E, R>): Effect.Effect<Effect.Effect<number, never, R>> =>
  Effect.sync(() => {
    let failed = 0
    const onFailure = (cause: Cause.Cause<unknown>) => {
      failed += 1
      return failed === 1 ? Effect.as(Effect.logError(`${name} failed and goes on`, cause), failed) : Effect.succeed(failed)
    }
    const onSuccess = () => Effect.sync(() => (failed = 0))
    return Effect.matchCauseEffect(turn, { onFailure, onSuccess })
  })

/** Starts turns that follow each other until the scope closes; after one that fails, with a pause. */
export const start = <E, R>(name: string, turn: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R | Scope.Scope> =>
  surviving(name, turn).pipe(
    Effect.flatMap((survived) =>
      Effect.forever(
        Effect.flatMap(survived, (failed) =>
          failed === 0 ? Effect.void : Effect.sleep(Math.min(firstPause * 2 ** (failed - 1), longestPause))
        )
      )
    ),
    Effect.interruptible,
    Effect.forkScoped,
    Effect.asVoid
  )

/** Repeats turns as a schedule says, also after one that fails. */
export const scheduled = <E, R, R2>(
  name: string,
  turn: Effect.Effect<unknown, E, R>,
  schedule: Schedule.Schedule<unknown, unknown, R2>
): Effect.Effect<void, never, R | R2> =>
  Effect.flatMap(surviving(name, turn), (survived) => Effect.asVoid(Effect.repeat(survived, schedule)))
