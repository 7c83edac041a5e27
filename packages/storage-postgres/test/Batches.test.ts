import { Statements } from "@atelier/storage"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { migrate } from "../../storage/src/Migrations.js"
import { over } from "../src/PostgresStatements.js"

const unused = () => Effect.dieMessage("not shared")

/** The statements of an empty database. */
const statements = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new pg.Pool({ connectionString: url })),
    (pool) => Effect.promise(() => pool.end())
  )
  const client = yield* Effect.provide(SqlClient.SqlClient, yield* Layer.build(PgClient.layerFromPool({ acquire: Effect.succeed(pool) })))
  return over(client, pool, { read: unused, close: () => {} }, { write: unused, close: () => {} })
})

describe("a batch that fails", () => {
  it.scopedLive("undoes its transaction", () =>
    Effect.gen(function* () {
      const sql = yield* statements
      yield* sql.batch(["CREATE TABLE a (id integer)"])
      const twice = sql.transaction(sql.batch(["CREATE TABLE b (id integer)", "CREATE TABLE a (id integer)"]))
      expect(yield* Effect.flip(twice)).toMatchObject({ _tag: "SqlError" })
      expect(yield* sql`SELECT to_regclass('b') AS b`).toStrictEqual([{ b: null }])
    })
  )

  it.scopedLive("is said to be of its migration", () =>
    Effect.gen(function* () {
      const sql = yield* statements
      yield* sql`CREATE TABLE templates (id integer)`
      const failed = yield* Effect.flip(Effect.sandbox(Effect.provideService(migrate, Statements, sql)))
      expect(Cause.pretty(failed)).toContain('Migration "30_templates" failed')
    })
  )
})
