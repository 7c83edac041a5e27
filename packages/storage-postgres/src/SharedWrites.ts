/**
 * Short writes of many requests in one transaction. Those that come in while the former ones are written and committed wait, and are then sent
 * together: they share the commit, one write to the socket and one process of the database.
 */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import pg from "pg"
import { isRefusal, makeSharedConnection, sqlError, type Waiting } from "./SharedConnection.js"

/** Writes of one transaction at most: their locks are held until all of them are written. */
const maximumWrites = 32

type Run = <A extends object>(text: string, values: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>

interface Write extends Waiting {
  /** Sends the statement, and keeps its answer. */
  readonly send: (client: pg.PoolClient, answered?: (cause: Error | null) => void) => void
  /** Answers the request. */
  readonly answer: () => void
  /** Runs the statement on a connection of its own. */
  readonly runAlone: () => void
}

export interface SharedWrites {
  readonly write: Run
  readonly close: () => void
}

/** Whether a statement gave up waiting for a lock. */
const isLockTimeout = (cause: Error): boolean => "code" in cause && cause.code === "55P03"

/** Whether the server has refused to commit, and goes on: it then has rolled back. One that is about to end a connection may have committed. */
const isRolledBack = (cause: Error): boolean => cause instanceof pg.DatabaseError && !/^(08|25P|57P)/.test(cause.code ?? "")

/**
 * Writes on one connection of a pool with pipelined clients, which have a `query_timeout` and a short `lock_timeout`. A statement of a transaction that is
 * rolled back, for whichever of its statements, runs again by `alone`: it then has its own error, and waits for locks without the others. A write that waits
 * for longer than `timeout`, in milliseconds, fails.
 */
export const makeSharedWrites = (pool: pg.Pool, alone: Run, timeout: number): SharedWrites => {
  let isWriting = false

  const ended = (): void => {
    isWriting = false
    schedule()
  }

  const writeOne = (client: pg.PoolClient, write: Write): void =>
    write.send(client, (cause) => {
      if (cause && !isRefusal(cause)) release(client)
      if (cause && isLockTimeout(cause)) write.runAlone()
      else write.answer()
      ended()
    })

  const writeAll = (client: pg.PoolClient, writes: ReadonlyArray<Write>): void => {
    // Their failures are those of the commit, too
    client.query("BEGIN", () => {})
    for (const write of writes) write.send(client)
    client.query("COMMIT", (cause: Error | null, result) => {
      if (cause && !isRolledBack(cause)) {
        release(client)
        for (const { fail } of writes) fail(cause)
      } else if (!cause && result.command === "COMMIT") for (const { answer } of writes) answer()
      else for (const { runAlone } of writes) runAlone()
      ended()
    })
  }

  const { add, close, release, schedule } = makeSharedConnection<Write>(pool, (client, take) => {
    if (isWriting) return
    const writes = take(maximumWrites)
    const [first] = writes
    if (first === undefined) return
    isWriting = true
    if (writes.length === 1) writeOne(client, first)
    else writeAll(client, writes)
  })

  return {
    write: <A extends object>(text: string, values: ReadonlyArray<unknown>) =>
      Effect.async<ReadonlyArray<A>, SqlError.SqlError>((resume) => {
        let kept: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> | undefined
        add({
          until: performance.now() + timeout,
          send: (client, answered) =>
            client.query<A>(text, [...values], (cause: Error | null, result) => {
              // The driver calls again after it could not encode a value
              if (kept !== undefined) return
              kept = cause ? sqlError(cause) : Effect.succeed(result.rows)
              answered?.(cause)
            }),
          answer: () => resume(kept ?? Effect.dieMessage("The statement was not answered")),
          fail: (cause) => resume(sqlError(cause)),
          runAlone: () => resume(alone<A>(text, values))
        })
      }),
    close
  }
}
