import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Layer, Redacted } from "effect"
import { freshDatabaseUrl } from "../../../../test/store/databases.js"
import { migrate } from "../../src/Migrations.js"
import { gathering } from "../../src/platform/Gathering.js"

const postgres = Layer.unwrapScoped(Effect.map(freshDatabaseUrl, (url) => PgClient.layer({ url: Redacted.make(url) })))

/** The client, and the texts that it runs. */
const watched = Effect.map(SqlClient.SqlClient, (client) => {
  const texts: Array<string> = []
  const sql = new Proxy(client, {
    get: (target, name): unknown =>
      name === "unsafe"
        ? (text: string, parameters?: ReadonlyArray<unknown>) => {
            const statement = target.unsafe(text, parameters)
            return Object.assign(statement, { commit: () => Effect.suspend(() => (texts.push(text), statement.withoutTransform)) })
          }
        : Reflect.get(target, name)
  })
  return { sql, texts }
})

describe("gathered statements", () => {
  it.scopedLive("run in their order, before the next other statement", () =>
    Effect.gen(function* () {
      const { sql, texts } = yield* watched
      const gathered = gathering(sql)
      yield* gathered.withTransaction(
        Effect.gen(function* () {
          yield* gathered.unsafe("CREATE TABLE a (id integer)")
          yield* gathered.unsafe("INSERT INTO a VALUES (1)")
          expect(texts).toStrictEqual([])
          expect(yield* gathered`SELECT id FROM a`).toStrictEqual([{ id: 1 }])
          yield* gathered.unsafe("INSERT INTO a VALUES (2)")
          expect(yield* gathered.unsafe("SELECT id FROM a WHERE id > $1", [1])).toStrictEqual([{ id: 2 }])
        })
      )
      expect(texts).toStrictEqual([
        "CREATE TABLE a (id integer);\nINSERT INTO a VALUES (1)",
        "INSERT INTO a VALUES (2)",
        "SELECT id FROM a WHERE id > $1"
      ])
    }).pipe(Effect.provide(postgres))
  )

  it.scopedLive("run before the end of their transaction, which a failure of theirs undoes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const gathered = gathering(sql)
      yield* gathered.withTransaction(gathered.unsafe("CREATE TABLE a (id integer)"))
      expect(yield* sql`SELECT id FROM a`).toStrictEqual([])
      const twice = gathered.withTransaction(
        Effect.zipRight(gathered.unsafe("CREATE TABLE b (id integer)"), gathered.unsafe("CREATE TABLE a (id integer)"))
      )
      expect(yield* Effect.flip(twice)).toMatchObject({ _tag: "SqlError" })
      expect(yield* sql`SELECT to_regclass('b') AS b`).toStrictEqual([{ b: null }])
    }).pipe(Effect.provide(postgres))
  )

  it.scopedLive("of all migrations take two messages", () =>
    Effect.gen(function* () {
      const { sql, texts } = yield* watched
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      expect(texts.length).toBe(2)
    }).pipe(Effect.provide(postgres))
  )

  it.scopedLive("that fail are said to be of their migration", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE templates (id integer)`
      const cause = yield* Effect.flip(Effect.sandbox(migrate))
      expect(Cause.pretty(cause)).toContain('Migration "30_templates" failed')
    }).pipe(Effect.provide(postgres))
  )
})
