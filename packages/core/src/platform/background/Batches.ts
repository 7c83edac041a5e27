/** Work on many rows in pieces: one statement holds locks, and the thread of SQLite, for as long as it runs. */
import { Clock, Duration, Effect } from "effect"
import { nextTurn } from "./Turns.js"

/** Rows of one run. The limit keeps one kind of rows from delaying others; the next run goes on. */
const maximumOfRun = 1_000_000

/** How long one batch is to take, in milliseconds. On SQLite, a request that arrives during a batch waits for the batch's end. */
const aimed = 4

/**
 * The pause after a batch, in times of its duration. A store that holds the thread, as SQLite does, leaves all but a thirteenth of the time to requests. Another one
 * works beside them, and leaves half of its own time to them.
 */
const timesPaused = { held: 12, beside: 1 }

/** The longest pause between two batches, in milliseconds: a store that did not answer for minutes is not waited for as long again. */
const longestPause = 1_000

/** Fewer rows are not worth a statement. The first batch has as many. */
const least = 50

interface Batch {
  readonly limit: number
  readonly milliseconds: number
}

/** Runs a batch. Returns its result, how long it took in milliseconds, and whether other work had its turn of the event loop in that time. */
const observed = <E, R>(batch: Effect.Effect<number, E, R>) =>
  Effect.suspend(() => {
    let isBeside = false
    const timed = Effect.gen(function* () {
      const begun = yield* Clock.currentTimeNanos
      const done = yield* batch
      return { done, isBeside, milliseconds: Number((yield* Clock.currentTimeNanos) - begun) / 1e6 }
    })
    const turn = Effect.map(nextTurn, () => void (isBeside = true))
    return Effect.zipLeft(timed, turn, { concurrent: true })
  })

/**
 * Rows of the batch after this one. One that took too long is followed by a smaller one, unless its rows are not what took the time: finding the first row
 * may take longer than deleting a hundred.
 */
const sizeAfter = ({ limit, milliseconds }: Batch, before: Batch, most: number): number => {
  if (milliseconds < aimed / 2) return limit * 2
  if (milliseconds < aimed) return limit
  const isCostFixed = (limit > before.limit || limit === most) && milliseconds < before.milliseconds * 1.5
  return limit <= least || isCostFixed ? limit * 2 : Math.max(least, Math.floor((limit * aimed) / milliseconds))
}

/**
 * Runs a batch again until it is not full: a worker that did one batch a period would fall behind callers who add rows faster. `batch` deals with as many
 * rows as it is told, at most `most`, and returns with how many it did. Between two batches other work has as long as the batch took, or many times as long if the batch held the thread. Returns the
 * number of rows, which is bounded by a million and a batch.
 */
export const untilNotFull = <E, R>(most: number, batch: (limit: number) => Effect.Effect<number, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    let count = 0
    let limit = Math.min(least, most)
    let before: Batch = { limit, milliseconds: 0 }
    while (count < maximumOfRun) {
      const { done, isBeside, milliseconds } = yield* observed(batch(limit))
      count += done
      if (done < limit) break
      const pause = milliseconds * (isBeside ? timesPaused.beside : timesPaused.held)
      yield* Effect.sleep(Duration.millis(Math.min(pause, longestPause)))
      const last = { limit, milliseconds }
      limit = Math.min(most, sizeAfter(last, before, most))
      before = last
    }
    return count
  })
