import { type Duration, Effect, Schedule, type Scope } from "effect"
import { Locks } from "./Locks.js"

/** Background work: a name, a period, and what one run does. */
export interface Worker<R> {
  readonly name: string
  readonly every: Duration.DurationInput
  readonly run: Effect.Effect<void, never, R>
}

/** One run, unless one is under way in any process that shares the store. A run that dies is logged. */
export const runOnce = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks> =>
  Effect.flatMap(Locks, (locks) => locks.tryWith(`worker:${worker.name}`, worker.run)).pipe(
    Effect.catchAllCause((cause) => Effect.logError("a worker's run failed", cause)),
    Effect.annotateLogs({ worker: worker.name }),
    Effect.asVoid
  )

/**
 * Starts a worker in the scope: a run at once and then one each period, at most one at a time among all processes that share the
 * store. A run that dies is logged and does not end the worker.
 */
export const start = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks | Scope.Scope> =>
  runOnce(worker).pipe(Effect.repeat(Schedule.fixed(worker.every)), Effect.forkScoped, Effect.asVoid)
