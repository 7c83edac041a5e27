/**
 * Short writes of many requests in one transaction. Those that come in while the former ones are written and committed wait, and are then sent
 * together: they share the commit, one write to the socket and one process of the database.
 */
import type { SqlError } from "@effect/sql"
import type { Rows } from "@atelier/storage"
import { Effect } from "effect"
import pg from "pg"
import { isRefusal, makeSharedConnection, sqlError, type Waiting } from "./SharedConnection.js"
import { type Call, rowsOf, statementsOf, valuesOf } from "./SharedItems.js"

/** Writes of one transaction at most: their locks are held until all of them are written. */
const maximumWrites = 32

type Run = (text: string, values: ReadonlyArray<unknown>) => Effect.Effect<Rows, SqlError.SqlError>

interface Write extends Call, Waiting {
  /** Keeps the answer of the statement until it is committed. */
  readonly keep: (answer: Effect.Effect<Rows, SqlError.SqlError>) => void
  /** Answers the request. */
  readonly answer: () => void
  /** Runs the statement on a connection of its own. */
  readonly runAlone: () => void
}

export interface SharedWrites {
  /** Runs a statement. With an item, it is the only one of the list that the statement has as its value. */
  readonly write: (text: string, values: ReadonlyArray<unknown>, item?: string) => Effect.Effect<Rows, SqlError.SqlError>
  readonly close: () => void
}

/** Whether a statement gave up waiting for a lock. */
const isLockTimeout = (cause: Error): boolean => "code" in cause && cause.code === "55P03"

/** Whether the server has refused to commit, and goes on: it then has rolled back. One that is about to end a connection may have committed. */
const isRolledBack = (cause: Error): boolean => cause instanceof pg.DatabaseError && !/^(08|25P|57P)/.test(cause.code ?? "")

/** Sends a statement, and keeps its answers. */
const send = (client: pg.PoolClient, served: ReadonlyArray<Write>, answered?: (cause: Error | null) => void): void => {
  const [first] = served
  if (first === undefined) return
  let isAnswered = false
  client.query<object>(first.text, valuesOf(served), (cause: Error | null, result) => {
    // The driver calls again after it could not encode a value
    if (isAnswered) return
    isAnswered = true
    if (cause) for (const { keep } of served) keep(sqlError(cause))
    else rowsOf(served, result.rows).forEach((rows, index) => served[index]?.keep(Effect.succeed(rows)))
    answered?.(cause)
  })
}

/**
 * Writes on one connection of a pool with pipelined clients, which have a `query_timeout` and a short `lock_timeout`. Writes with the same text that have items share
 * a statement. All statements of a transaction that is rolled back, for whichever of them, run again by `alone`, with one write each: it then has its own error, and
 * waits for locks without the others. A write that waits for longer than `timeout`, in milliseconds, fails.
 */
export const makeSharedWrites = (pool: pg.Pool, alone: Run, timeout: number): SharedWrites => {
  let isWriting = false

  const ended = (): void => {
    isWriting = false
    schedule()
  }

  const writeOne = (client: pg.PoolClient, write: Write): void =>
    send(client, [write], (cause) => {
      if (cause && !isRefusal(cause)) release(client)
      if (cause && isLockTimeout(cause)) write.runAlone()
      else write.answer()
      ended()
    })

  /** Ends a transaction, which a `cause` has failed. */
  const end = (client: pg.PoolClient, writes: ReadonlyArray<Write>, cause: Error | null, isCommitted: boolean): void => {
    if (cause && !isRolledBack(cause)) {
      release(client)
      for (const { fail } of writes) fail(cause)
    } else if (!cause && isCommitted) for (const { answer } of writes) answer()
    else for (const { runAlone } of writes) runAlone()
    ended()
  }

  const writeAll = (client: pg.PoolClient, writes: ReadonlyArray<Write>): void => {
    const statements = statementsOf(writes)
    const [only, another] = statements
    // A statement by itself is a transaction
    if (only !== undefined && another === undefined) return send(client, only, (cause) => end(client, writes, cause, true))
    // Their failures are those of the commit, too
    client.query("BEGIN", () => {})
    for (const served of statements) send(client, served)
    client.query("COMMIT", (cause: Error | null, result) => end(client, writes, cause, !cause && result.command === "COMMIT"))
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
    write: (text, values, item) =>
      Effect.async((resume) => {
        let kept: Effect.Effect<Rows, SqlError.SqlError> = Effect.dieMessage("The statement was not answered")
        add({
          text,
          values,
          item,
          until: performance.now() + timeout,
          keep: (answer) => {
            kept = answer
          },
          answer: () => resume(kept),
          fail: (cause) => resume(sqlError(cause)),
          runAlone: () => resume(alone(text, values))
        })
      }),
    close
  }
}
