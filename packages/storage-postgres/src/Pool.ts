import { SqlError } from "@effect/sql"
import { Effect, Redacted, Schema, type Scope } from "effect"
import pg from "pg"
import { makeAsking, processIdOf, requireAnswers } from "./Answers.js"
import { closing, destroy } from "./Closing.js"
import { makeNames, prepareOn } from "./PreparedStatements.js"
import { makeSharedReads, type SharedReads } from "./SharedReads.js"
import { makeSharedWrites, type SharedWrites } from "./SharedWrites.js"
import { types } from "./Types.js"
import { runOn } from "./PostgresStatements.js"

/** Milliseconds after which a silent connection is asked for a sign of life. */
const keepAliveDelay = 10_000

/** The first version with all that the statements use. */
const leastVersion = 14

const Server = Schema.Struct({
  rows: Schema.Tuple(Schema.Struct({ name: Schema.String, number: Schema.NumberFromString, pid: Schema.Number }))
})

const greeting =
  "SELECT current_setting('server_version') AS name, current_setting('server_version_num') AS number, pg_backend_pid() AS pid"

/**
 * Asks a connection for the server's version, and returns whether the id that the connection was told is that of its server process. Fails if the
 * server is too old.
 */
const greet = (pool: pg.Pool): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { answer, processId } = yield* Effect.tryPromise({
      try: async () => {
        const client = await pool.connect()
        try {
          return { answer: await client.query(greeting), processId: processIdOf(client) }
        } finally {
          client.release()
        }
      },
      catch: (cause) => new SqlError.SqlError({ cause, message: "No connection to PostgreSQL" })
    })
    const {
      rows: [{ name, number, pid }]
    } = yield* Effect.orDie(Schema.decodeUnknown(Server)(answer))
    if (number < leastVersion * 10_000) {
      const cause = new Error(`PostgreSQL ${name} is too old: Atelier needs ${leastVersion} or newer`)
      return yield* new SqlError.SqlError({ cause })
    }
    return pid === processId
  })

export interface PoolOptions {
  /** Connections at most. */
  readonly max: number
  /** Milliseconds that a statement waits for a connection, of a server that does not answer or of a pool that is in use, before it fails. */
  readonly connectionTimeout: number
  /** Milliseconds after which the server ends a statement. */
  readonly statementTimeout: number
  /** Milliseconds that its answer may take beyond that, before the connection is given up; 5,000 unless given. */
  readonly answerTimeout?: number
}

/** Milliseconds that a statement may take while the service starts: migrations of large tables take long, and have no limit by the server. */
const startTimeout = 3_600_000

const openPool = (
  url: Redacted.Redacted<string>,
  { connectionTimeout, max }: Pick<PoolOptions, "connectionTimeout" | "max">,
  clients: Pick<pg.PoolConfig, "lock_timeout" | "pipeline" | "query_timeout" | "statement_timeout">,
  prepare: (client: pg.PoolClient) => void = () => {}
): Effect.Effect<pg.Pool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({
        connectionString: Redacted.value(url),
        max,
        connectionTimeoutMillis: connectionTimeout,
        keepAlive: true,
        keepAliveInitialDelayMillis: keepAliveDelay,
        application_name: "atelier",
        types,
        ...clients
      })
      const names = makeNames()
      const open = new Set<pg.PoolClient>()
      pool.on("connect", (client) => {
        open.add(client)
        client.on("end", () => open.delete(client))
        prepare(client)
        prepareOn(client, names)
      })
      // An idle connection that is lost is replaced when it is needed
      pool.on("error", () => undefined)
      return { pool, open }
    }),
    ({ open, pool }) =>
      closing(
        () => pool.end(),
        () => open.forEach(destroy)
      )
  ).pipe(Effect.map(({ pool }) => pool))

/** Tells whether a server process, by its id, serves a connection. */
export type ServedBy = (processId: unknown) => boolean

/**
 * Tells by which server processes a pool is served. A connection counts until the pool begins to end it. A silent one is not closed for many
 * minutes after that, while a server that took over may give its number to a process of another client.
 */
const serversOf = (pool: pg.Pool): ServedBy => {
  const clients = new Set<pg.PoolClient>()
  pool.on("connect", (client) => {
    const { end } = client
    clients.add(client)
    Object.assign(client, {
      end: (...given: ReadonlyArray<unknown>): unknown => {
        clients.delete(client)
        return Reflect.apply(end, client, given)
      }
    })
  })
  return (processId) => [...clients].some((client) => processIdOf(client) === processId)
}

/**
 * Connections to one database, closed with the scope, and their server processes. Fails if no connection can be made. Statements have an hour until `begun` runs,
 * and then the time of the options.
 */
export const makePool = (
  url: Redacted.Redacted<string>,
  options: PoolOptions
): Effect.Effect<
  { readonly pool: pg.Pool; readonly servedBy: ServedBy; readonly begun: Effect.Effect<void> },
  SqlError.SqlError,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const { answerTimeout = 5_000, statementTimeout } = options
    let within = startTimeout
    let hasOwnIds = false
    const idle = new Set<pg.PoolClient>()
    const server = {
      working: makeAsking(Redacted.value(url)),
      hasOwnIds: () => hasOwnIds,
      // Those that wait for work would lose a statement each
      onSilent: () => idle.forEach(destroy)
    }
    const pool = yield* openPool(url, options, { statement_timeout: statementTimeout }, (client) => {
      client.on("end", () => idle.delete(client))
      requireAnswers(client, () => within, server)
    })
    pool.on("acquire", (client) => idle.delete(client))
    pool.on("release", (_, client) => idle.add(client))
    const servedBy = serversOf(pool)
    hasOwnIds = yield* greet(pool)
    const begun = Effect.sync(() => {
      within = statementTimeout + answerTimeout
    })
    return { pool, servedBy, begun }
  })

/** The part of the time for an answer after which the server ends a statement: its answer must come before the driver gives up the connection. */
const endedAfter = 0.9

/** Milliseconds after which a write that waits for a lock runs alone, as do the others of its transaction. */
const lockTimeout = 100

/**
 * The connection for the statements of many requests, closed with the scope. A statement that waits is ended by the server: a process of
 * the server whose connection was given up would wait on, and each further attempt would add one.
 */
const openShared = <A extends { readonly close: () => void }>(
  url: Redacted.Redacted<string>,
  connectionTimeout: number,
  make: (pool: pg.Pool) => A,
  clients: Pick<pg.PoolConfig, "lock_timeout"> = {}
): Effect.Effect<A, never, Scope.Scope> =>
  openPool(
    url,
    { connectionTimeout, max: 1 },
    { pipeline: true, query_timeout: connectionTimeout, statement_timeout: Math.ceil(connectionTimeout * endedAfter), ...clients }
  ).pipe(
    Effect.flatMap((pool) =>
      Effect.acquireRelease(
        Effect.sync(() => make(pool)),
        ({ close }) => Effect.sync(close)
      )
    )
  )

/** The connection for the reads that requests begin with, closed with the scope. */
export const makeReads = (
  url: Redacted.Redacted<string>,
  { connectionTimeout }: Pick<PoolOptions, "connectionTimeout">
): Effect.Effect<SharedReads, never, Scope.Scope> => openShared(url, connectionTimeout, makeSharedReads)

/**
 * The connection for the short writes of many requests, closed with the scope, and its server processes. What fails there runs on a connection of
 * `pool`.
 */
export const makeWrites = (
  url: Redacted.Redacted<string>,
  { connectionTimeout }: Pick<PoolOptions, "connectionTimeout">,
  pool: pg.Pool
): Effect.Effect<SharedWrites & { readonly servedBy: ServedBy }, never, Scope.Scope> =>
  openShared(
    url,
    connectionTimeout,
    (shared) => ({ ...makeSharedWrites(shared, runOn(pool), connectionTimeout), servedBy: serversOf(shared) }),
    {
      lock_timeout: lockTimeout
    }
  )
