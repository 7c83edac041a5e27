import { storeUnavailable } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient, type SqlError } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Redacted } from "effect"
import { databaseUrl, freshDatabaseUrl } from "../../../test/store/databases.js"
import { clientStatements } from "@atelier/storage"
import { inTransaction, isUnavailable } from "../../storage/src/platform/Unavailability.js"
import { makePool } from "../src/Pool.js"
import { runOn } from "../src/PostgresStatements.js"
import { aWayTo } from "../../../test/outside/ways.js"

it.scopedLive("a pool is not served by a connection that it gave up, even if its end is never answered", () =>
  Effect.gen(function* () {
    const { block, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
    const { pool, servedBy } = yield* makePool(Redacted.make(url), { max: 2, connectionTimeout: 10_000, statementTimeout: 60_000 })
    const client = yield* Effect.promise(() => pool.connect())
    const answer = yield* Effect.promise(() => client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))
    const pid = answer.rows[0]?.pid
    expect([servedBy(pid), servedBy(-1)]).toStrictEqual([true, false])
    block()
    client.release(true)
    expect(servedBy(pid)).toBe(false)
  })
)

it.scopedLive("a statement that runs for too long is ended by the server, and leaves its connection to others", () =>
  Effect.gen(function* () {
    const url = yield* databaseUrl
    const sql = Context.get(
      yield* Layer.build(Postgres.layer({ url, maxConnections: 1, statementTimeout: "500 millis" })),
      SqlClient.SqlClient
    )
    const pid = sql`SELECT pg_backend_pid() AS pid`
    const before = yield* pid
    const other = Context.get(yield* Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), SqlClient.SqlClient)
    yield* other`SELECT pg_advisory_lock(7)`
    // Waits until the other connection ends
    const error = yield* Effect.flip(sql`SELECT pg_advisory_lock(7)`)
    expect(isUnavailable(error)).toBe(true)
    expect(yield* pid).toStrictEqual(before)
  }).pipe(Effect.withTracerEnabled(false))
)

it.scopedLive("migrations may take longer than statements", () =>
  Effect.gen(function* () {
    const url = yield* freshDatabaseUrl
    yield* Layer.build(Postgres.layer({ url, maxConnections: 1, statementTimeout: "20 millis" }))
    const sql = Context.get(yield* Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), SqlClient.SqlClient)
    expect(yield* sql`SELECT count(*) AS users FROM users`).toStrictEqual([{ users: "1" }])
  })
)

it.scopedLive("a connection whose server went silent is given up, within a transaction too", () =>
  Effect.gen(function* () {
    const { silence, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
    const limits = { max: 1, connectionTimeout: 10_000, statementTimeout: 200, answerTimeout: 100 }
    const { begun, pool } = yield* makePool(Redacted.make(url), limits)
    yield* begun
    const sql = clientStatements(
      Context.get(yield* Layer.build(PgClient.layerFromPool({ acquire: Effect.succeed(pool) })), SqlClient.SqlClient)
    )
    const silently = Effect.gen(function* () {
      yield* sql`SELECT 1`
      silence()
      yield* sql`SELECT 2`
    })
    const lost = yield* Effect.exit(inTransaction(sql, silently))
    expect(Option.map(Exit.causeOption(lost), storeUnavailable)).toMatchObject(Option.some(Option.some({ reason: "away" })))
    // A busy machine may be silent for as long once more
    const answered = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>) => Effect.retry(statement, { while: isUnavailable })
    expect(yield* answered(sql`SELECT 3 AS three`)).toStrictEqual([{ three: 3 }])
    silence()
    expect(isUnavailable(yield* Effect.flip(runOn(pool)("SELECT 4", [])))).toBe(true)
    expect(yield* answered(sql`SELECT 5 AS five`)).toStrictEqual([{ five: 5 }])
  })
)
