import { Deferred, Effect, Schedule } from "effect"
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
    return repository
      .upsert(inOrder.map(([, entry]) => entry))
      .pipe(Effect.sandbox, Effect.retry({ times: retries, schedule: Schedule.spaced("1 second") }), Effect.unsandbox)
  }

  /** Callers wait for it, whatever comes of it. */
  const write = (waiting: ReadonlyArray<Waiting>) =>
    Effect.flatMap(Effect.exit(Effect.suspend(() => upsert(waiting))), (exit) =>
      Effect.forEach(waiting, ({ stored }) => Deferred.done(stored, exit), { discard: true })
    )

  return { write }
}
