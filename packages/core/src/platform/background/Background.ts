/**
 * Work beside the requests that goes on until its scope closes. A failure or a defect of one turn is logged and counted, and ends nothing. Work that is
 * started in a transaction has no part in it.
 */
import {
  Cause,
  Clock,
  Duration,
  Effect,
  ExecutionStrategy,
  Exit,
  Fiber,
  FiberId,
  FiberRef,
  GlobalValue,
  Layer,
  Option,
  Scope
} from "effect"
import { running } from "../wiring/Standing.js"
import * as Measure from "../Measure.js"
import { storeUnavailable } from "../store/StoreUnavailable.js"
import { afterwards } from "../store/Transactor.js"
import { nextTurn } from "./Turns.js"
import { isManual, standing } from "./BackgroundWork.js"
import * as WorkHealth from "./WorkHealth.js"

const failures = Measure.counter("background_failures_total", "Turns of background work that failed.", ["work"])

/** Milliseconds before the turn after a failure. The pause doubles with each further failure, up to the longest. */
const firstPause = 100
const longestPause = 2_000

/** Milliseconds between two log lines about the failures of one kind of work, however many loops of it fail. */
const logInterval = 60_000

export type { WorkHealth } from "./WorkHealth.js"

/** The state of all background work of this process, by name. */
export const health = WorkHealth.all

/** Counts a failed turn of the work in `background_failures_total`. */
export const countFailure = (name: string): Effect.Effect<void> => Effect.sync(() => failures(name).update(1))

/** Writes a line of a log, and goes on if the logger of the host throws. */
export const logged = (line: Effect.Effect<void>): Effect.Effect<void> => Effect.catchAllCause(line, () => Effect.void)

/** Logs what ended a turn. A store that is away is the operator's matter and no defect. */
export const logFailure = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  logged(Option.isSome(storeUnavailable(cause)) ? Effect.logWarning(message, cause) : Effect.logError(message, cause))

/** How long the end of a scope waits for work that cannot be interrupted, such as a statement that the store does not answer. */
const endedWithin = "5 seconds"

/** How long work has to end after other work of the same end has used up the time. */
const moment = Duration.millis(250)

/** What the work of one program shares at its end. */
export interface Patience {
  isEnding: boolean
  /** Milliseconds that the end has waited for work that did not end. */
  spent: number
}

const patience = GlobalValue.globalValue("@atelier/core/Background/patience", () =>
  FiberRef.unsafeMake<Patience>({ isEnding: false, spent: 0 })
)

/**
 * Has the work of a program waited for together once its end has begun: as long as for the first that does not end, and a quarter of a second for each further one. A store without
 * an answer keeps many loops from their end, and scopes close one after the other.
 */
export const sharing = (shared: Patience): Layer.Layer<never> => running(Effect.locallyScoped(patience, shared))

const waitFor = <A, E, R>(work: Effect.Effect<A, E, R>, duration: Duration.DurationInput, shared: Patience) =>
  Effect.suspend(() => {
    const time = shared.isEnding ? Duration.max(moment, Duration.subtract(duration, shared.spent)) : duration
    return Effect.tap(Effect.timeoutOption(Effect.interruptible(Effect.disconnect(work)), time), (ended) => {
      if (Option.isNone(ended) && shared.isEnding) shared.spent += Duration.toMillis(time)
    })
  })

/**
 * Waits for work for a time, and then interrupts it and leaves it to itself. `Effect.timeoutOption` alone waits for work that cannot be interrupted, such as a statement,
 * and in a finalizer for all work, because what a finalizer does cannot be interrupted. At the end of a program, the time is what is left of that which work shares (`sharing`).
 */
export const leftAfter =
  (duration: Duration.DurationInput) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.flatMap(FiberRef.get(patience), (shared) => waitFor(work, duration, shared))

/**
 * Starts work that the end of a scope interrupts. The scope waits at most five seconds for its end, or, if `holds` says so, for as long as it takes. After that the work is left, with a
 * line of the log: a statement without an answer must not keep what the scope releases next from its turn. Work that is started in a transaction has no part in it.
 */
export const forkIn = <A, E, R>(
  name: string,
  scope: Scope.Scope,
  work: Effect.Effect<A, E, R>,
  holds: () => boolean = () => false
): Effect.Effect<Fiber.RuntimeFiber<A, E>, never, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      let isOver = false
      const shared = yield* FiberRef.get(patience)
      // The scope of a process forgets work that has ended
      const own = yield* Scope.fork(scope, ExecutionStrategy.sequential)
      const over = Effect.suspend(() => {
        isOver = true
        return Scope.close(own, Exit.void)
      })
      const fiber = yield* Effect.forkDaemon(afterwards(Effect.ensuring(restore(work), over)))
      const left = logged(
        Effect.annotateLogs(Effect.logWarning("background work did not end in time, and is left to itself"), { work: name })
      )
      const waited = Effect.flatMap(waitFor(Fiber.await(fiber), endedWithin, shared), (exit) => {
        if (Option.isSome(exit)) return Effect.void
        return holds() ? Fiber.await(fiber) : left
      })
      const end = Effect.suspend(() => (isOver ? Effect.void : Effect.zipRight(Fiber.interruptAsFork(fiber, FiberId.none), waited)))
      yield* Scope.addFinalizer(own, end)
      return fiber
    })
  )

/** Starts work as `forkIn` does, in the scope at hand. */
const forkScoped = <A, E, R>(
  name: string,
  work: Effect.Effect<A, E, R>,
  holds?: () => boolean
): Effect.Effect<void, never, R | Scope.Scope> => Effect.flatMap(Effect.scope, (scope) => Effect.asVoid(forkIn(name, scope, work, holds)))

/** Runs the last write of a scope. It has at most five seconds, after which it is left to itself. A failure is logged at the level debug. */
export const lastly = <E, R>(write: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> =>
  write.pipe(leftAfter(endedWithin), Effect.sandbox, Effect.ignoreLogged)

/**
 * Returns a function that starts loops of one kind, such as one for each connection. Each runs its turn over and over until the scope closes. After a
 * turn that fails or dies, it pauses and goes on. The failures are counted. Of the failures of all these loops one a minute is logged, and that the
 * loop in question has recovered. In a program whose work is manual, no turn goes on because of the time.
 */
export const repeating = (
  name: string,
  observed: Effect.Effect<WorkHealth.ObservedLoop> = WorkHealth.observe(name)
): (<E, R>(turn: Effect.Effect<unknown, E, R>, holds?: () => boolean) => Effect.Effect<void, never, R | Scope.Scope>) => {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (turn, holds) =>
    Effect.suspend(() => {
      let failed = 0
      let isKnown = false
      const onFailure = (cause: Cause.Cause<unknown>, { failed: fails }: WorkHealth.ObservedLoop) =>
        Effect.gen(function* () {
          fails(cause)
          yield* countFailure(name)
          const now = yield* Clock.currentTimeMillis
          if (!isKnown && Math.abs(now - loggedAt) >= logInterval) {
            isKnown = true
            loggedAt = now
            yield* logFailure("background work failed and goes on", cause)
          }
          yield* Effect.sleep(Math.min(firstPause * 2 ** failed, longestPause))
          failed += 1
        })
      const onSuccess = ({ succeeded }: WorkHealth.ObservedLoop) => {
        succeeded()
        const wasKnown = isKnown
        failed = 0
        isKnown = false
        return wasKnown ? logged(Effect.logInfo("background work succeeds again")) : Effect.void
      }
      const looping = Effect.flatMap(Effect.all([observed, isManual, Effect.clock]), ([loop, stands, clock]) =>
        Effect.matchCauseEffect(stands ? Effect.withClock(turn, standing(clock)) : turn, {
          onFailure: (cause) => onFailure(cause, loop),
          onSuccess: () => onSuccess(loop)
        }).pipe(Effect.forever, Effect.ensuring(Effect.sync(loop.ended)))
      )
      return looping.pipe(
        // A layer is built where nothing is interrupted, and the scope must be able to end the loop
        Effect.interruptible,
        Effect.annotateLogs({ work: name }),
        (loop) => forkScoped(name, loop, holds)
      )
    })
}

/** Starts one loop of its kind, as `repeating` does. */
export const repeat = <E, R>(
  name: string,
  turn: Effect.Effect<unknown, E, R>,
  observed?: Effect.Effect<WorkHealth.ObservedLoop>
): Effect.Effect<void, never, R | Scope.Scope> => repeating(name, observed)(turn)

/** Milliseconds since 1970 of the last line about items, by the name of the work. */
const itemsLoggedAt = new Map<string, number>()

/**
 * Works on items, several at once if `concurrency` says so. Each begins in its own turn of the event loop: on SQLite, a request that arrives waits for
 * one item, and not for all; unless `inOneTurn` says so, for short work on a few. One that fails, dies or takes longer than `within` is counted and does not keep the others from their turn. One such failure a minute is
 * logged, unless `onFailure` is given instead.
 */
export const each = <A, E, R, R2 = never>(
  name: string,
  items: Iterable<A>,
  work: (item: A) => Effect.Effect<unknown, E, R>,
  options: {
    readonly concurrency?: number
    readonly within?: Duration.DurationInput
    readonly inOneTurn?: boolean
    readonly onFailure?: (item: A, cause: Cause.Cause<unknown>) => Effect.Effect<void, never, R2>
  } = {}
): Effect.Effect<void, never, R | R2> => {
  const onFailure = (cause: Cause.Cause<unknown>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const before = itemsLoggedAt.get(name)
      if (before !== undefined && Math.abs(now - before) < logInterval) return Effect.void
      itemsLoggedAt.set(name, now)
      return Effect.annotateLogs(logFailure("background work failed on one item and goes on with others", cause), { work: name })
    })
  const turns = Effect.unsafeMakeSemaphore(1)
  let isFirst = true
  const turn = Effect.suspend(() => {
    if (!isFirst && options.inOneTurn !== true) return turns.withPermits(1)(nextTurn)
    isFirst = false
    return Effect.void
  })
  return Effect.forEach(
    items,
    (item) =>
      Effect.suspend(() =>
        options.within === undefined ? work(item) : Effect.timeout(Effect.disconnect(work(item)), options.within)
      ).pipe(
        Effect.catchAllCause((cause) =>
          Effect.all([countFailure(name), WorkHealth.itemFailed(name, cause)], { discard: true }).pipe(
            Effect.zipRight(options.onFailure === undefined ? onFailure(cause) : options.onFailure(item, cause))
          )
        ),
        (begun) => Effect.zipRight(turn, begun)
      ),
    { concurrency: options.concurrency ?? 1, discard: true }
  )
}

/** What became of items: the answers, and how the first of those failed that did. */
export interface Tried<A, E> {
  readonly answers: ReadonlyArray<A>
  readonly failure: Effect.Effect<void, E>
}

/**
 * Works on items one after the other. One that fails or dies does not keep the others from their turn: the caller fails with `failure` once all had it. A
 * store that is away ends the work at once.
 */
export const tryEach = <A, B, E, R>(items: Iterable<A>, work: (item: A) => Effect.Effect<B, E, R>): Effect.Effect<Tried<B, E>, E, R> =>
  Effect.gen(function* () {
    const answers: Array<B> = []
    let failed: Exit.Exit<never, E> | undefined
    for (const item of items) {
      const exit = yield* Effect.exit(Effect.suspend(() => work(item)))
      if (Exit.isSuccess(exit)) answers.push(exit.value)
      else if (Cause.isInterrupted(exit.cause) || Option.isSome(storeUnavailable(exit.cause))) return yield* Effect.failCause(exit.cause)
      else failed ??= Exit.failCause(exit.cause)
    }
    return { answers, failure: failed ?? Effect.void }
  })

/** Starts work that is done once, unless the scope closes before. A failure or defect is logged and counted. */
export const once = <E, R>(name: string, work: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R | Scope.Scope> =>
  work.pipe(
    Effect.catchAllCause((cause) =>
      Effect.all([countFailure(name), WorkHealth.itemFailed(name, cause), logFailure("background work failed", cause)], { discard: true })
    ),
    Effect.interruptible,
    Effect.annotateLogs({ work: name }),
    (effect) => forkScoped(name, effect)
  )
