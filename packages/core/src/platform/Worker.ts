import { type Duration, Effect, Schedule, type Scope } from "effect"
import { Locks } from "./Locks.js"

/** Background work: a name, a period, and what one run does. */
export interface Worker<R> {
  readonly name: string
  readonly every: Duration.DurationInput
  readonly run: Effect.Effect<void, never, R>
}

/**
 * Starts a worker in the scope: a run at once and then one each period, at most one at a time among all processes that share the
 * store. A run that dies is logged and does not end the worker.
 */
export const start = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks | Scope.Scope> =>
  Effect.gen(function* () {
    const locks = yield* Locks
    yield* locks.tryWith(`worker:${worker.name}`, worker.run).pipe(
      Effect.catchAllCause((cause) => Effect.logError("a worker's run failed", cause)),
      Effect.annotateLogs({ worker: worker.name }),
      Effect.repeat(Schedule.fixed(worker.every)),
      Effect.forkScoped
    )
  })
