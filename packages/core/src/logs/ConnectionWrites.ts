import { Deferred, Effect, Exit, Option, Schedule } from "effect"
import { storeUnavailable } from "../platform/store/StoreUnavailable.js"
import { connectionKey, merged, type WrittenConnection } from "./ConnectionLog.js"
import type { ConnectionLogRepository } from "./ConnectionLogRepository.js"

/** Tries after a failed write, one second apart. */
const retries = 3

export interface Waiting {
  readonly entry: WrittenConnection
  readonly stored: Deferred.Deferred<void>
}

interface Needs {
  readonly repository: ConnectionLogRepository["Type"]
}

/** How notes of connections are written: again while the store is away, and in batches. */
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

  /** Writes all together. After a failure that is not the store's, each half is written alone, and so on: an entry that cannot be stored keeps no others. */
  const writeParts = (waiting: ReadonlyArray<Waiting>): Effect.Effect<void> =>
    Effect.flatMap(Effect.exit(Effect.suspend(() => upsert(waiting))), (exit) => {
      if (Exit.isSuccess(exit) || waiting.length === 1 || Option.isSome(storeUnavailable(exit.cause))) return finish(waiting, exit)
      const half = waiting.length >> 1
      return Effect.zipRight(
        writeParts(waiting.slice(0, half)),
        Effect.suspend(() => writeParts(waiting.slice(half)))
      )
    })

  const write = (waiting: ReadonlyArray<Waiting>) =>
    Effect.suspend(() => upsert(waiting)).pipe(
      Effect.sandbox,
      Effect.retry(again),
      Effect.unsandbox,
      Effect.exit,
      Effect.flatMap((exit) => (Exit.isSuccess(exit) ? finish(waiting, exit) : writeParts(waiting)))
    )

  return { write }
}
