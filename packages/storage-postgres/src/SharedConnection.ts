/** One connection for the statements of many requests. */
import { SqlError } from "@effect/sql"
import type pg from "pg"

/**
 * Values that a statement may not have (PostgreSQL's classes of errors 22 and 23) say nothing against its connection, nor does the end of a
 * statement that waited too long (57014, 55P03).
 */
export const isRefusal = (cause: Error): boolean => refusesValues(cause) || /^(57014|55P03)$/.test(codeOf(cause))

/** Whether a statement may not have one of its values. */
export const refusesValues = (cause: Error): boolean => /^2[23]/.test(codeOf(cause))

const codeOf = (cause: Error): string => ("code" in cause && typeof cause.code === "string" ? cause.code : "")

export const sqlError = (cause: unknown): SqlError.SqlError => new SqlError.SqlError({ cause, message: "Failed to execute statement" })

/** As a pool says it of a statement that has waited too long for a connection. */
const waitedTooLong = "timeout exceeded when trying to connect"

/** A statement that waits until it is sent. */
export interface Waiting {
  readonly fail: (cause: unknown) => void
  /** When it fails unless it has been sent, in milliseconds of `performance.now()`: not before what was added earlier. Default never. */
  readonly until?: number
}

export interface SharedConnection<A extends Waiting> {
  /** Adds a statement, which is sent after the current turn of the event loop at the earliest. */
  readonly add: (statement: A) => void
  /** Sends what waits after the current turn of the event loop. */
  readonly schedule: () => void
  /** Gives a connection up. */
  readonly release: (client: pg.PoolClient) => void
  readonly close: () => void
}

/**
 * The connection of a pool with pipelined clients: it is made with the first statement, and again after a loss. `send` sends what it takes from the
 * queue. All statements wait behind one that is not answered, so the clients need a `query_timeout`: with it the driver gives up the
 * connection and fails its statements.
 */
export const makeSharedConnection = <A extends Waiting>(
  pool: pg.Pool,
  send: (client: pg.PoolClient, take: (maximum: number) => ReadonlyArray<A>) => void
): SharedConnection<A> => {
  let waiting: Array<A> = []
  let connection: pg.PoolClient | undefined
  let isScheduled = false
  let isClosed = false

  const take = (maximum: number): ReadonlyArray<A> => {
    const taken = waiting
    waiting = taken.splice(maximum)
    return taken
  }

  const failAll = (cause: unknown): void => {
    for (const { fail } of take(Infinity)) fail(cause)
  }

  const failLate = (): void => {
    const now = performance.now()
    while (waiting[0]?.until !== undefined && waiting[0].until <= now) waiting.shift()?.fail(new Error(waitedTooLong))
  }

  /** What is sent in one turn of the event loop goes out in one write. */
  const sendOn = (client: pg.PoolClient): void => {
    isScheduled = false
    failLate()
    const { stream } = client.connection
    stream.cork()
    send(client, take)
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
        isScheduled = false
        return failAll(refusal)
      }
      if (isClosed) {
        isScheduled = false
        client.release(true)
        return failAll(new Error("Connection terminated"))
      }
      connection = client
      client.on("error", () => release(client))
      sendOn(client)
    })

  const schedule = (): void => {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(() => (connection === undefined ? connect() : sendOn(connection)))
  }

  return {
    add: (statement) => {
      waiting.push(statement)
      schedule()
    },
    schedule,
    release,
    close: () => {
      isClosed = true
      if (connection !== undefined) release(connection)
    }
  }
}
