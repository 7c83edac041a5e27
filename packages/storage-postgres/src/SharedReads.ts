/**
 * Reads of many requests on one connection, which do not wait for each other's answers. Every request begins with a short read of its caller. With a
 * connection for each, as many processes of the database are woken up, which costs more than the reads.
 */
import { SqlError } from "@effect/sql"
import { Effect } from "effect"
import type pg from "pg"

/**
 * Values that a statement may not have (PostgreSQL's classes of errors 22 and 23) say nothing against its connection, nor does the end of a
 * statement that waited too long (57014, 55P03).
 */
export const isRefusal = (cause: Error): boolean =>
  "code" in cause && typeof cause.code === "string" && /^(2[23]|57014$|55P03$)/.test(cause.code)

interface Read {
  readonly send: (client: pg.PoolClient) => void
  readonly fail: (cause: unknown) => void
}

export interface SharedReads {
  readonly read: <A extends object>(text: string, values: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  readonly close: () => void
}

/**
 * Reads on one connection of a pool with pipelined clients: it is made with the first read, and again after a loss. All reads wait behind one
 * that is not answered, so the clients need a `query_timeout`: with it the driver gives up the connection and fails its reads.
 */
export const makeSharedReads = (pool: pg.Pool): SharedReads => {
  let waiting: Array<Read> = []
  let connection: pg.PoolClient | undefined
  let isScheduled = false
  let isClosed = false

  const taken = (): ReadonlyArray<Read> => {
    const reads = waiting
    waiting = []
    isScheduled = false
    return reads
  }

  /** Sends the reads of one turn of the event loop in one write. */
  const send = (client: pg.PoolClient): void => {
    const { stream } = client.connection
    stream.cork()
    for (const read of taken()) read.send(client)
    stream.uncork()
  }

  const release = (client: pg.PoolClient): void => {
    if (connection !== client) return
    connection = undefined
    client.release(true)
  }

  const connect = (): void =>
    pool.connect((refusal, client) => {
      if (client === undefined) {
        for (const { fail } of taken()) fail(refusal)
        return
      }
      if (isClosed) {
        client.release(true)
        for (const { fail } of taken()) fail(new Error("Connection terminated"))
        return
      }
      connection = client
      client.on("error", () => release(client))
      send(client)
    })

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => (connection === undefined ? connect() : send(connection)))
  }

  return {
    read: <A extends object>(text: string, values: ReadonlyArray<unknown>) =>
      Effect.async<ReadonlyArray<A>, SqlError.SqlError>((resume) => {
        const fail = (cause: unknown): void => resume(new SqlError.SqlError({ cause, message: "Failed to execute statement" }))
        waiting.push({
          send: (client) =>
            client.query<A>(text, [...values], (cause: Error | undefined, result) => {
              if (!cause) return resume(Effect.succeed(result.rows))
              if (!isRefusal(cause)) release(client)
              fail(cause)
            }),
          fail
        })
        schedule()
      }),
    close: () => {
      isClosed = true
      if (connection !== undefined) release(connection)
    }
  }
}
