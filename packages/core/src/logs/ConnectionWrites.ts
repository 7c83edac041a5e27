import { Deferred, Effect, Exit, Schedule } from "effect"
import { writeInHalves } from "../platform/store/writeInHalves.js"
import { connectionKey, merged, type WrittenConnection } from "./ConnectionLog.js"
import type { ConnectionLogRepository } from "./ConnectionLogRepository.js"

/** Tries after a failed write, one second apart. */
const retries = 3

/** How many writes of parts of a batch may fail. After these, the notes that are left are given up. */
const maximumFailures = 100

export interface Waiting {
  readonly entry: WrittenConnection
  readonly stored: Deferred.Deferred<void>
}

interface Needs {
  readonly repository: ConnectionLogRepository["Type"]
}

/**
 * How notes of connections are written: again after a failure, and in batches. A note that cannot be stored keeps no others from it.
 */
export const connectionWrites = ({ repository }: Needs) => {
  const upsert = (waiting: ReadonlyArray<Waiting>) => {
    const entries = new Map<string, WrittenConnection>()
    for (const { entry } of waiting) {
      const key = connectionKey(entry)
      const known = entries.get(key)
      entries.set(key, known === undefined ? entry : merged(known, entry))
    }
    // Statements of replicas that lock rows in different orders could wait for each other
    const inOrder = Array.from(entries).toSorted(([one], [other]) => (one < other ? -1 : 1))
    return repository.upsert(inOrder.map(([, entry]) => entry))
  }

  const again = Schedule.intersect(Schedule.recurs(retries), Schedule.spaced("1 second"))

  /** Callers wait for it, whatever comes of it. */
  const finish = (waiting: ReadonlyArray<Waiting>, exit: Exit.Exit<void>) =>
    Effect.forEach(waiting, ({ stored }) => Deferred.done(stored, exit), { discard: true })

  const upsertAndFinish = (waiting: ReadonlyArray<Waiting>) =>
    Effect.zipRight(
      Effect.suspend(() => upsert(waiting)),
      finish(waiting, Exit.void)
    )

  const write = (waiting: ReadonlyArray<Waiting>) =>
    upsertAndFinish(waiting).pipe(
      Effect.sandbox,
      Effect.retry(again),
      Effect.unsandbox,
      Effect.catchAllCause(() =>
        Effect.flatMap(writeInHalves(waiting, upsertAndFinish, maximumFailures), (unwritten) =>
          Effect.forEach(unwritten, ({ cause, items }) => finish(items, Exit.failCause(cause)), { discard: true })
        )
      )
    )

  return { write }
}
