import type { SqlClient, SqlError } from "@effect/sql"
import { makeStatements, type Rows, type Statements, type Store, transactionOf } from "@atelier/storage"
import { Effect, FiberRef } from "effect"
import type pg from "pg"
import { isRefusal, sqlError } from "./SharedConnection.js"
import type { SharedReads } from "./SharedReads.js"
import type { SharedWrites } from "./SharedWrites.js"

/** A lost connection fails its statement. */
const ignoreLoss = (): void => {}

/** Runs a statement on a connection of its own. The pool's own `query` gives a connection up with whatever statement fails. */
export const runOn =
  (pool: pg.Pool) =>
  (text: string, values: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError.SqlError> =>
    Effect.async((resume) => {
      const fail = (cause: unknown): void => resume(sqlError(cause))
      pool.connect((refusal, client) => {
        if (client === undefined) return fail(refusal)
        client.on("error", ignoreLoss)
        client.query<object>(text, [...values], (cause: Error | undefined, result) => {
          client.off("error", ignoreLoss).release(cause && !isRefusal(cause) ? cause : undefined)
          if (cause) fail(cause)
          else resume(Effect.succeed(result.rows))
        })
      })
    })

/**
 * Statements that always run to their end. The database cancels an interrupted statement by the process id of its
 * connection, which by then may run another statement. Outside of transactions, statements go straight to the pool: the span and scope that the client gives
 * each cost as much as all the rest. With tracing enabled, they have both. Those that allow it share one connection for reads, and one for
 * writes. The texts of a batch go in one message.
 */
export const over = (client: SqlClient.SqlClient, pool: pg.Pool, { read }: SharedReads, { write }: SharedWrites): Statements => {
  const query = runOn(pool)

  const run: Store["run"] = (text, values, { item, shared } = {}) =>
    Effect.uninterruptible(
      Effect.withFiberRuntime((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return client.unsafe<object>(text, values).withoutTransform
        const connection = transactionOf(fiber)
        if (connection !== undefined) return connection.execute(text, values, undefined)
        if (shared === undefined) return query(text, values)
        return (shared === "read" ? read : write)(text, values, item)
      })
    )

  return makeStatements(client, {
    run,
    batch: (texts) => Effect.asVoid(run(texts.join(";\n"), [])),
    transaction: client.withTransaction
  })
}
