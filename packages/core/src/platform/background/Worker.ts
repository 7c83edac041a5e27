import { type Cause, Context, type Duration, Effect, Schedule, type Scope } from "effect"
import { countFailure, forkIn, logFailure, logged, repeat } from "./Background.js"
import { startUnlessManual } from "./BackgroundWork.js"
import { Locks } from "../store/Locks.js"
import * as WorkHealth from "./WorkHealth.js"

/** Background work: a name, a period, and what one run does. */
export interface Worker<R> {
  readonly name: string
  readonly every: Duration.DurationInput
  readonly run: Effect.Effect<void, never, R>
  /** Completes when a run is wanted before its time. A run that is under way in this process ends first. */
  readonly wanted?: Effect.Effect<void>
  /** Whether `wanted` is about to complete. As long as it is, the worker skips the run of a period. */
  readonly isWanted?: () => boolean
}

/** What background work waits for. A program that is starting has other work first. */
export class Beginning extends Context.Reference<Beginning>()("@atelier/core/Worker/Beginning", {
  defaultValue: (): Effect.Effect<void> => Effect.void
}) {}

/** Whether a process runs workers: of several that serve one address, one does at a time, since the others would only ask for the same locks. */
export interface Turn {
  readonly isHere: () => boolean
  /** Completes when it is this process's turn. */
  readonly here: Effect.Effect<void>
}

/** What each run waits for. By default this process runs workers at any time. */
export class RunsHere extends Context.Reference<RunsHere>()("@atelier/core/Worker/RunsHere", {
  defaultValue: (): Turn => ({ isHere: () => true, here: Effect.void })
}) {}

/** Completes when background work may begin. */
export const begun: Effect.Effect<void> = Effect.flatten(Beginning)

const attempt = <R>(worker: Worker<R>) => Effect.flatMap(Locks, (locks) => locks.tryWith(`worker:${worker.name}`, worker.run))

const logRun = (cause: Cause.Cause<never>) => logFailure("a worker's run failed", cause)

/** One run, unless one is under way in any process that shares the store. A run that dies is logged. */
export const runOnce = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks> =>
  attempt(worker).pipe(
    Effect.catchAllCause((cause) => Effect.zipRight(countFailure(worker.name), logRun(cause))),
    Effect.annotateLogs({ worker: worker.name }),
    Effect.asVoid
  )

/**
 * Starts a worker in the scope: a run after `Beginning`, which is at once by default, then one each period and whenever one is wanted, at most one at a
 * time among all processes that share the store. A run that is due while another process has the turn (`RunsHere`) waits for it. A run that dies does not end the
 * worker. Of several that die one after the other the first is logged, and the first that succeeds again. Each is counted in `background_failures_total`.
 * A program whose work is manual asks for each run (`BackgroundWork`).
 */
export const start = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks | Scope.Scope> =>
  startUnlessManual(worker.name, attempt(worker), startInTime(worker))

const startInTime = <R>(worker: Worker<R>): Effect.Effect<void, never, R | Locks | Scope.Scope> =>
  Effect.gen(function* () {
    const { here, isHere } = yield* RunsHere
    let failing = false
    /** The worker's health, once it runs here: nothing is known of one that runs in another process. */
    let observed: WorkHealth.ObservedLoop | undefined
    const observe = Effect.suspend(() => {
      if (observed !== undefined) return Effect.succeed(observed)
      return Effect.tap(WorkHealth.observe(worker.name), (loop) => void (observed = loop))
    })
    const forget = (): void => {
      observed?.ended()
      observed = undefined
      failing = false
    }
    yield* Effect.addFinalizer(() => Effect.sync(forget))
    /** What was known of the runs here says nothing of those of the process that has the turn now. */
    const turn = Effect.suspend(() => {
      if (isHere()) return Effect.void
      forget()
      return here
    })
    const turns = Effect.unsafeMakeSemaphore(1)
    const run = Effect.zipRight(turn, observe).pipe(
      Effect.flatMap(({ failed, succeeded }) =>
        Effect.matchCauseEffect(turns.withPermits(1)(attempt(worker)), {
          onFailure: (cause) => {
            const isKnown = failing
            failing = true
            failed(cause)
            return Effect.zipRight(countFailure(worker.name), isKnown ? Effect.void : logRun(cause))
          },
          onSuccess: () => {
            succeeded()
            const hasFailed = failing
            failing = false
            return hasFailed ? logged(Effect.logInfo("a worker's run succeeded again")) : Effect.void
          }
        })
      )
    )
    const inTime = Effect.suspend(() => (worker.isWanted?.() === true ? Effect.void : run))
    const periodic = begun.pipe(
      Effect.zipRight(Effect.repeat(inTime, Schedule.fixed(worker.every))),
      Effect.interruptible,
      Effect.annotateLogs({ worker: worker.name })
    )
    yield* forkIn(worker.name, yield* Effect.scope, periodic)
    const { wanted } = worker
    if (wanted === undefined) return
    // A run tells its outcome by itself, so the loop around it tells its failures alone
    const onlyFailures = Effect.succeed<WorkHealth.ObservedLoop>({
      failed: (cause) => observed?.failed(cause),
      succeeded: () => {},
      ended: () => {}
    })
    const whenWanted = Effect.annotateLogs(Effect.zipRight(wanted, run), { worker: worker.name })
    yield* repeat(worker.name, Effect.zipRight(begun, whenWanted), onlyFailures)
  })
