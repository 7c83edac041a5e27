/** Long lists as streams. */
import { nextTurn } from "@atelier/core/platform"
import { Chunk, Effect, Option, Stream } from "effect"

/** Rows that a stream reads with one statement: what other requests wait for on SQLite, and what is held of the list. */
export const pageSize = 250

/** A row, and what those behind it are found by. */
interface Placed<A, Place> {
  readonly row: A
  readonly place: Place
}

/** Rows in their order, read `pageSize` at a time: those behind a place, or the first. Other work has its turn after each page. */
export const inPages = <A, Place>(page: (behind: Place | undefined) => Effect.Effect<ReadonlyArray<Placed<A, Place>>>): Stream.Stream<A> =>
  Stream.paginateChunkEffect<Place | undefined, A, never, never>(undefined, (behind) =>
    Effect.map(Effect.zipLeft(page(behind), nextTurn), (found) => [
      Chunk.unsafeFromArray(found.map(({ row }) => row)),
      found.length < pageSize ? Option.none() : Option.fromNullable(found.at(-1)?.place)
    ])
  )
