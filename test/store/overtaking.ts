/** Two callers at once, where one comes behind the other exactly while that one is at work. */
import { Effect } from "effect"
import type { TestServer } from "../http/server.js"
import { Statements } from "@atelier/storage"

/** Processes of the database that wait for this one, or for one that does. */
const waiting = `WITH RECURSIVE waiting (pid) AS (
    SELECT l.pid FROM pg_locks l WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))
    UNION SELECT l.pid FROM pg_locks l JOIN waiting w ON w.pid = ANY (pg_blocking_pids(l.pid)) WHERE NOT l.granted
  ) SELECT CAST(count(*) AS integer) AS count FROM waiting`

/**
 * Makes the first call and, when it waits for what the statement locks, the second; lets go when that waits, too, or has been answered.
 * Transactions of SQLite run one after the other, and so do the calls there.
 */
export const overtaking = <A, B>(
  server: TestServer,
  lock: string,
  first: () => Promise<A>,
  second: () => Promise<B>
): Promise<readonly [A, B]> =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(Statements))
      const untilWaiting = (count: number, isAnswered: () => boolean = () => false) =>
        Effect.repeat(sql.run<{ readonly count: number }>(waiting), {
          until: ([row]) => isAnswered() || (row !== undefined && row.count >= count)
        })
      const paused = sql.transaction(
        Effect.gen(function* () {
          yield* sql.run(lock)
          const before = first()
          yield* untilWaiting(1)
          let isAnswered = false
          const behind = second().finally(() => {
            isAnswered = true
          })
          yield* untilWaiting(2, () => isAnswered)
          return [before, behind] as const
        })
      )
      const inTurn = Effect.promise(async () => [await first(), await second()] as const)
      return yield* sql.dialect({
        postgres: () => Effect.flatMap(paused, (calls) => Effect.promise(() => Promise.all(calls))),
        sqlite: () => inTurn
      })
    })
  )
