/** Long work in pieces: a process has one thread, and whatever is not cut keeps all requests waiting until it ends. */
import { Effect, Stream } from "effect"

/** Lets everything else that waits have its turn of the event loop. `Effect.yieldNow` lets other fibers run, but neither sockets nor timers. */
export const nextTurn: Effect.Effect<void> = Effect.sleep(0)

/**
 * Lets everything else have its turn after fibers that were started just now: they run before the first of both timers is looked at, which may be due by then. Timers
 * that are due follow each other without a turn of sockets.
 */
export const turnAfterStarted: Effect.Effect<void> = Effect.zipRight(nextTurn, nextTurn)

/** Maps items in their order, and lets others have their turn after every `size` of them. */
export const mapInTurns = <A, B>(items: ReadonlyArray<A>, size: number, map: (item: A, index: number) => B): Effect.Effect<Array<B>> =>
  Effect.gen(function* () {
    const mapped: Array<B> = []
    for (const [index, item] of items.entries()) {
      if (index > 0 && index % size === 0) yield* nextTurn
      mapped.push(map(item, index))
    }
    return mapped
  })

/** Lets others have their turn after every `size` elements of a stream. */
export const streamInTurns =
  (size: number) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.mapEffect(Stream.zipWithIndex(stream), ([element, index]) =>
      index > 0 && index % size === 0 ? Effect.as(nextTurn, element) : Effect.succeed(element)
    )
