/**
 * Reads of many requests on one connection, which do not wait for each other's answers. Every request begins with a short read of its caller. With a
 * connection for each, as many processes of the database are woken up, which costs more than the reads.
 */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import type pg from "pg"
import { isRefusal, makeSharedConnection, sqlError, type Waiting } from "./SharedConnection.js"

interface Read extends Waiting {
  readonly send: (client: pg.PoolClient) => void
}

export interface SharedReads {
  readonly read: <A extends object>(text: string, values: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  readonly close: () => void
}

/** Reads on one connection of a pool with pipelined clients, which have a `query_timeout`. */
export const makeSharedReads = (pool: pg.Pool): SharedReads => {
  const { add, close, release } = makeSharedConnection<Read>(pool, (client, take) => {
    for (const read of take(Infinity)) read.send(client)
  })
  return {
    read: <A extends object>(text: string, values: ReadonlyArray<unknown>) =>
      Effect.async<ReadonlyArray<A>, SqlError.SqlError>((resume) => {
        const fail = (cause: unknown): void => resume(sqlError(cause))
        add({
          send: (client) =>
            client.query<A>(text, [...values], (cause: Error | undefined, result) => {
              if (!cause) return resume(Effect.succeed(result.rows))
              if (!isRefusal(cause)) release(client)
              fail(cause)
            }),
          fail
        })
      }),
    close
  }
}
