/** Work on many rows in pieces: one statement holds locks, and the thread of SQLite, for as long as it runs. */
import { Effect } from "effect"
import { nextTurn } from "./Turns.js"

/** Rows of one run. The limit keeps one kind of rows from delaying others; the next run goes on. */
const maximumOfRun = 1_000_000

/**
 * Runs a batch again until it is not full: a worker that did one batch a period would fall behind callers who add rows faster. `batch` returns how many rows
 * it has dealt with, and `size` is how many fill it. Other work has its turn between two batches. Returns the number of rows, which is bounded by a
 * million and a batch.
 */
export const untilNotFull = <E, R>(size: number, batch: Effect.Effect<number, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    let count = 0
    let last = size
    while (last >= size && count < maximumOfRun) {
      last = yield* batch
      count += last
      yield* nextTurn
    }
    return count
  })
