/** Writes that may wait a moment, so that many reports become one statement. */
import { type Duration, Effect, Option, Queue, type Scope } from "effect"
import * as Background from "../../platform/background/Background.js"
import { startUnlessManual } from "../../platform/background/BackgroundWork.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import { type Unwritten, writeInHalves } from "../../platform/store/writeInHalves.js"

export interface BatchOptions<A> {
  readonly name: string
  /** Items with equal keys become the newest of them. */
  readonly key: (item: A) => string
  /** How long an item waits at most. */
  readonly every: Duration.DurationInput
  /** Items that are not waited with. */
  readonly threshold: number
  /** Items that may wait; those beyond are dropped. */
  readonly capacity: number
  readonly write: (items: ReadonlyArray<A>) => Effect.Effect<void>
}

export interface Batch<A> {
  /** Hands an item over; false when it was dropped. */
  readonly add: (item: A) => Effect.Effect<boolean>
}

/** How long the last write may take when the scope closes. */
const lastWrite: Duration.DurationInput = "15 seconds"

/** Milliseconds between two lines of the log about items that are dropped. */
const logInterval = 60_000

/** Writes that may fail in one round before what fails is lost as it is. */
const maximumFailures = 100

/**
 * Collects items and writes them together; the rest is written when the scope closes. After a write that dies, each half is written alone, and so on. An
 * item that cannot be written alone is lost, as is what fails after a hundred failures of one round. What meets a store that is away waits for the next round.
 */
export const makeBatch = <A>(options: BatchOptions<A>): Effect.Effect<Batch<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    let waiting = new Map<string, A>()
    /** Whether the store was away at the last round. */
    let isAway = false
    const full = yield* Queue.sliding<void>(1)

    const flush = Effect.suspend(() => {
      if (waiting.size === 0) return Effect.void
      const items = Array.from(waiting.values())
      waiting = new Map()
      isAway = false
      /** A newer item of the same key is in its place. */
      const keep = (some: ReadonlyArray<A>): void => {
        for (const item of some) {
          const key = options.key(item)
          if (waiting.size < options.capacity && !waiting.has(key)) waiting.set(key, item)
        }
      }
      const take = ({ cause, items: some }: Unwritten<A>): Effect.Effect<void> => {
        if (Option.isNone(storeUnavailable(cause))) return Background.each(options.name, some, () => Effect.failCause(cause))
        isAway = true
        keep(some)
        return Effect.failCause(cause)
      }
      return Effect.flatMap(writeInHalves(items, options.write, maximumFailures), (unwritten) =>
        Effect.forEach(unwritten, take, { discard: true })
      )
    }).pipe(
      Effect.catchAllCause((cause) =>
        Effect.zipRight(Background.countFailure(options.name), Effect.logError(`${options.name} could not be written`, cause))
      ),
      Effect.uninterruptible
    )

    yield* Effect.addFinalizer(() => Background.leftAfter(lastWrite)(flush))
    // A store that is away would be asked again for each item that is added
    const turn = Effect.suspend(() => (isAway ? Effect.sleep(options.every) : Effect.timeoutOption(Queue.take(full), options.every)))
    yield* startUnlessManual(options.name, flush, Background.repeat(options.name, Effect.zipRight(turn, flush)))

    let dropped = 0
    let loggedAt = Number.NEGATIVE_INFINITY
    const drop = Effect.flatMap(Monotonic.now, (now) => {
      dropped += 1
      if (now - loggedAt < logInterval) return Effect.succeed(false)
      loggedAt = now
      const line = Effect.logWarning(`${options.name}: too many wait to be written, and are dropped`, { dropped })
      dropped = 0
      return Effect.as(line, false)
    })

    return {
      add: (item) =>
        Effect.suspend(() => {
          const key = options.key(item)
          if (waiting.size >= options.capacity && !waiting.has(key)) return drop
          waiting.set(key, item)
          return waiting.size >= options.threshold ? Effect.as(Queue.offer(full, undefined), true) : Effect.succeed(true)
        })
    }
  })
