import { plannedAnew } from "@atelier/storage"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { makePool } from "../src/Pool.js"
import { makeNames, type Names, prepareOn } from "../src/PreparedStatements.js"

const connected = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  return Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 1 })), SqlClient.SqlClient)
})

describe.each([
  ["with spans", true],
  ["without spans", false]
])("prepared statements %s", (_, tracing) => {
  it.scopedLive("are those that are used again, and answer as before", () =>
    Effect.gen(function* () {
      const sql = yield* connected
      const answers = yield* Effect.forEach(Array.from({ length: 8 }), (_, use) => sql`SELECT ${use}::int AS used`)
      expect(answers.flat()).toStrictEqual(Array.from({ length: 8 }, (_, used) => ({ used })))
      yield* sql`SELECT ${"once"}::text AS used`
      const prepared = yield* sql<{
        readonly statement: string
      }>`SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%AS used'`
      expect(prepared).toStrictEqual([{ statement: "SELECT $1::int AS used" }])
    }).pipe(Effect.withTracerEnabled(tracing))
  )

  it.scopedLive("that fail leave their connection as it was", () =>
    Effect.gen(function* () {
      const sql = yield* connected
      const divide = (by: number) => sql`SELECT 6 / ${by}::int AS quotient`
      const connection = sql`SELECT pg_backend_pid()`
      const before = yield* connection
      for (let use = 0; use < 6; use++) yield* Effect.flip(divide(0))
      expect(yield* divide(3)).toStrictEqual([{ quotient: 2 }])
      expect(yield* Effect.flip(sql.withTransaction(divide(0)))).toMatchObject({ cause: { code: "22012" } })
      expect(yield* sql.withTransaction(divide(2))).toStrictEqual([{ quotient: 3 }])
      expect(yield* connection).toStrictEqual(before)
    }).pipe(Effect.withTracerEnabled(tracing))
  )
})

describe("the columns of a prepared statement", () => {
  it.scopedLive("are described once per connection, and read as before", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const { pool } = yield* makePool(Redacted.make(url), { max: 1, connectionTimeout: 5_000, statementTimeout: 60_000 })
      const client = yield* Effect.acquireRelease(
        Effect.promise(() => pool.connect()),
        (client) => Effect.sync(() => client.release())
      )
      let descriptions = 0
      client.connection.on("rowDescription", () => descriptions++)
      const query = (text: string, values: ReadonlyArray<unknown>) =>
        Effect.async<ReadonlyArray<object>, Error>((resume) =>
          client.query(text, [...values], (cause: Error | undefined, result) =>
            resume(cause ? Effect.fail(cause) : Effect.succeed(result.rows))
          )
        )
      const rows = (count: number) =>
        query(
          `SELECT n AS number, CAST('{"a": 1}' AS jsonb) AS object, CAST(NULL AS text) AS nothing, CAST('2026-01-31T23:59:59.123Z' AS timestamptz) AS instant
            FROM generate_series(1, CAST($1 AS bigint)) AS n`,
          [count]
        )
      const row = (number: number) => ({ number, object: '{"a": 1}', nothing: null, instant: "2026-01-31T23:59:59.123Z" })
      yield* Effect.replicateEffect(rows(1), 6)
      expect(descriptions).toBe(6)
      expect(yield* rows(2)).toStrictEqual([row(1), row(2)])
      expect(yield* rows(0)).toStrictEqual([])
      expect(yield* rows(1)).toStrictEqual([row(1)])
      yield* Effect.flip(query("SELECT CAST($1 AS integer)", ["none"]))
      expect(yield* rows(1)).toStrictEqual([row(1)])
      expect(descriptions).toBe(6)
    })
  )
})

describe("the names of prepared statements", () => {
  it("stay those of texts that are in use, and are bounded", () => {
    const { nameOf } = makeNames()
    const nameAfterUses = (text: string, uses: number) => Array.from({ length: uses }, () => nameOf(text)).at(-1)
    expect(nameAfterUses("a", 5)).toBeUndefined()
    const name = nameAfterUses("a", 1)
    expect(name).toBeDefined()
    for (let other = 0; other < 2000; other++) nameAfterUses(`once ${other}`, 1)
    const names = new Set(Array.from({ length: 1000 }, (_, other) => nameAfterUses(`often ${other}`, 6)))
    names.delete(undefined)
    expect(names.size).toBe(255)
    expect(names).not.toContain(name)
    expect(nameOf("a")).toBe(name)
    expect(nameAfterUses(`a ${plannedAnew}`, 20)).toBeUndefined()
  })

  it("go from texts that are no longer used to those that are", () => {
    const { isInUse, nameOf, takenBack } = makeNames({ names: 2, idleUses: 20 })
    const use = (text: string, times: number) => Array.from({ length: times }, () => nameOf(text)).at(-1)
    const [first, second] = [use("first", 6), use("second", 6)]
    expect(use("third", 10)).toBeUndefined()
    expect([use("second", 10), isInUse(String(first)), takenBack()]).toStrictEqual([second, true, 0])
    const third = use("third", 2)
    expect([third === first, isInUse(String(first)), isInUse(String(third)), takenBack()]).toStrictEqual([false, false, true, 1])
    expect(nameOf("second")).toBe(second)
  })
})

describe("a connection with prepared statements", () => {
  const aClient = (names: Names) =>
    Effect.gen(function* () {
      const client = new pg.Client({ connectionString: yield* freshDatabaseUrl })
      yield* Effect.acquireRelease(
        Effect.promise(() => client.connect()),
        () => Effect.promise(() => client.end())
      )
      // A client of a pool has one method more
      prepareOn(client as pg.PoolClient, names)
      const query = (text: string, values: ReadonlyArray<unknown> = []) =>
        Effect.async<ReadonlyArray<object>, Error>((resume) =>
          client.query(text, [...values], (cause: Error | undefined, result) =>
            resume(cause ? Effect.fail(cause) : Effect.succeed(result.rows))
          )
        )
      return query
    })

  it.scopedLive("closes those whose names were taken back", () =>
    Effect.gen(function* () {
      const query = yield* aClient(makeNames({ names: 1, idleUses: 5 }))
      const use = (name: string) => Effect.replicateEffect(query(`SELECT CAST($1 AS integer) AS ${name}`, [1]), 7)
      yield* use("first")
      yield* use("second")
      expect((yield* use("second")).at(-1)).toStrictEqual([{ second: 1 }])
      const prepared = yield* query("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%integer%'")
      expect(prepared).toStrictEqual([{ statement: "SELECT CAST($1 AS integer) AS second" }])
    })
  )

  it.scopedLive("prepares one again whose columns a migration has changed", () =>
    Effect.gen(function* () {
      const query = yield* aClient(makeNames())
      yield* query("CREATE TEMPORARY TABLE things (id integer, size integer)")
      yield* query("INSERT INTO things VALUES (1, 2)")
      const read = query("SELECT size FROM things WHERE id = $1", [1])
      yield* Effect.replicateEffect(read, 8)
      yield* query("ALTER TABLE things ALTER COLUMN size TYPE text")
      expect(yield* read).toStrictEqual([{ size: "2" }])
      expect(yield* read).toStrictEqual([{ size: "2" }])
    })
  )
})
