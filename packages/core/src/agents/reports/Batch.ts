/** Writes that may wait a moment, so that many reports become one statement. */
import { type Duration, Effect, Option, Queue, type Scope } from "effect"
import * as Background from "../../platform/background/Background.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"

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

/**
 * Collects items and writes them together; the rest is written when the scope closes. After a write that dies, each item is written alone, and those
 * that die again are lost; all are lost if the store is away.
 */
export const makeBatch = <A>(options: BatchOptions<A>): Effect.Effect<Batch<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    let waiting = new Map<string, A>()
    const full = yield* Queue.sliding<void>(1)

    const flush = Effect.suspend(() => {
      if (waiting.size === 0) return Effect.void
      const items = Array.from(waiting.values())
      waiting = new Map()
      const alone = Background.each(options.name, items, (item) => options.write([item]))
      return Effect.catchAllCause(options.write(items), (cause) =>
        items.length === 1 || Option.isSome(storeUnavailable(cause)) ? Effect.failCause(cause) : alone
      )
    }).pipe(
      Effect.catchAllCause((cause) =>
        Effect.zipRight(Background.countFailure(options.name), Effect.logError(`${options.name} could not be written`, cause))
      ),
      Effect.uninterruptible
    )

    yield* Effect.addFinalizer(() => flush.pipe(Effect.disconnect, Effect.timeoutOption(lastWrite)))
    yield* Background.repeat(options.name, Effect.zipRight(Effect.timeoutOption(Queue.take(full), options.every), flush))

    return {
      add: (item) =>
        Effect.suspend(() => {
          const key = options.key(item)
          if (waiting.size >= options.capacity && !waiting.has(key)) {
            return Effect.as(Effect.logWarning(`${options.name}: too many wait to be written, one is dropped`), false)
          }
          waiting.set(key, item)
          return waiting.size >= options.threshold ? Effect.as(Queue.offer(full, undefined), true) : Effect.succeed(true)
        })
    }
  })
