/** Copies of databases that servers use, and what is made of them. */
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync, gzipSync } from "node:zlib"
import pg from "pg"
import { freshDatabaseUrl } from "./store/databases.js"

const stored = fileURLToPath(new URL("./upgrade/3aefe42", import.meta.url))
const unpacked = (name: string) => Effect.promise(async () => gunzipSync(await readFile(join(stored, name))))

/** Runs an effect outside of the transaction that its caller is in. */
const apart = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A> => Effect.promise(() => Effect.runPromise(effect))

const aFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-backup-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Texts that a form of copies could get wrong. */
const strange = "a \"b\" \\c\\ (d, e) {f}\n\t'g' \u2028 é 😀 \\N null"

/** Adds what the stored deployment lacks, through the statements of a server. */
const addStrangeRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE users SET name = ${strange}`
  const json = JSON.stringify({ strange, none: null, number: 1.1e-7 })
  yield* sql.onDialectOrElse({
    pg: () => sql`UPDATE audit_logs SET additional_fields = CAST(${json} AS jsonb)`,
    orElse: () => sql`UPDATE audit_logs SET additional_fields = ${json}`
  })
})

interface Kind {
  /** A database with a deployment of an earlier version, which a server has migrated and uses. */
  readonly running: Effect.Effect<{ readonly sql: SqlClient.SqlClient; readonly place: string }, unknown, Scope.Scope>
  readonly backup: (place: string, to: string) => Effect.Effect<{ readonly migration: number; readonly bytes: number }, Error>
  /** Makes a database of a copy, and answers its place. */
  readonly restore: (folder: string, from: string) => Effect.Effect<string, Error, Scope.Scope>
  /** All that a database holds: its schema, and each row of each table. */
  readonly content: (place: string) => Effect.Effect<object>
  /** Starts a server on it. */
  readonly start: (place: string) => Effect.Effect<unknown, unknown, Scope.Scope>
}

const sqlite: Kind = {
  running: Effect.gen(function* () {
    const place = join(yield* aFolder, "atelier.db")
    const file = yield* unpacked("sqlite.db.gz")
    yield* Effect.promise(() => writeFile(place, file))
    return { sql: Context.get(yield* Layer.build(Sqlite.layer({ filename: place })), SqlClient.SqlClient), place }
  }),
  backup: (filename, to) => Sqlite.backup({ filename, to }),
  restore: (folder, from) => {
    const filename = join(folder, "restored.db")
    return Effect.as(Sqlite.restore({ filename, from }), filename)
  },
  content: (filename) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const schema = yield* sql<{ type: string; name: string }>`SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`
      const tables: Record<string, unknown> = {}
      for (const { name } of schema.filter(({ type }) => type === "table")) {
        const rows = yield* sql<object>`SELECT * FROM ${sql(name)}`
        tables[name] = rows.map((row) => JSON.stringify(row)).toSorted()
      }
      return { schema, tables }
    }).pipe(Effect.provide(SqliteClient.layer({ filename, readonly: true, disableWAL: true })), Effect.orDie),
  start: (filename) => Layer.build(Sqlite.layer({ filename }))
}

const asked = <A>(url: string, ask: (client: pg.Client) => Promise<A>): Effect.Effect<A> =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await ask(client)
    } finally {
      await client.end()
    }
  })

const postgres: Kind = {
  running: Effect.gen(function* () {
    const place = yield* freshDatabaseUrl
    const text = yield* unpacked("postgres.sql.gz")
    yield* asked(place, (client) => client.query(text.toString()))
    return { sql: Context.get(yield* Layer.build(Postgres.layer({ url: place, maxConnections: 2 })), SqlClient.SqlClient), place }
  }),
  backup: (url, to) => Postgres.backup({ url, to }),
  restore: (_, from) => Effect.tap(freshDatabaseUrl, (url) => Postgres.restore({ url, from })),
  content: (url) =>
    asked(url, async (client) => {
      const rowsOf = async (text: string) => (await client.query({ text, rowMode: "array" })).rows
      const names = await rowsOf("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1")
      const tables: Record<string, unknown> = {}
      for (const [name] of names) {
        // The time of a migration is that of its database
        const value = name === "atelier_migrations" ? "migration_id || name" : "t::text"
        tables[name] = await rowsOf(`SELECT ${value} FROM ${name} t ORDER BY 1`)
      }
      return {
        tables,
        keys: await rowsOf(
          "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"
        ),
        triggers: await rowsOf("SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"),
        indexes: await rowsOf("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
        sequences: await rowsOf("SELECT sequencename, last_value FROM pg_sequences ORDER BY 1")
      }
    }),
  start: (url) => Layer.build(Postgres.layer({ url, maxConnections: 2 }))
}

layer(Layer.empty, { excludeTestServices: true })((it) => {
  it.scoped.each([
    ["SQLite", sqlite],
    ["PostgreSQL", postgres]
  ] as const)("a copy of a database in use has all that was committed, and is restored whole: %s", ([, kind]) =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const to = join(folder, "copy")
      const { place, sql } = yield* kind.running
      yield* Effect.provideService(addStrangeRows, SqlClient.SqlClient, sql)
      const before = yield* kind.content(place)
      expect(JSON.stringify(before)).toContain("line 3")

      // The server is in the middle of a change meanwhile
      const copy = yield* sql.withTransaction(Effect.zipRight(sql`DELETE FROM workspace_agent_logs`, apart(kind.backup(place, to))))
      expect(yield* kind.content(place)).not.toStrictEqual(before)
      const { mode, size } = yield* Effect.promise(() => stat(to))
      expect(copy.bytes).toBe(size)
      expect(mode & 0o777).toBe(0o600)
      expect(yield* Effect.promise(() => readdir(folder))).toStrictEqual(["copy"])

      const restored = yield* kind.restore(folder, to)
      expect(yield* kind.content(restored)).toStrictEqual(before)
      yield* kind.start(restored)
      expect((yield* Effect.flip(kind.backup(place, to))).message).toBe(`to ${JSON.stringify(to)}: the file exists: name a new one`)
      const nowhere = join(folder, "none", "copy")
      expect((yield* Effect.flip(kind.backup(place, nowhere))).message).toBe(`to ${JSON.stringify(nowhere)}: its folder does not exist`)
    })
  )

  it.scoped("a SQLite database is restored only where no server uses it, and replaced only if asked", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const from = join(folder, "copy")
      const { place, sql } = yield* sqlite.running
      yield* Sqlite.backup({ filename: place, to: from })
      const before = yield* sqlite.content(place)
      const refusal = (options: Sqlite.RestoreOptions) => Effect.map(Effect.flip(Sqlite.restore(options)), ({ reason }) => reason)
      expect(yield* refusal({ filename: place, from })).toBe("the file exists: move it away, or name another one")
      expect(yield* refusal({ filename: place, from, replace: true })).toBe("another server uses it")

      const other = join(folder, "other.db")
      yield* Effect.scoped(Layer.build(Sqlite.layer({ filename: other })))
      yield* Sqlite.restore({ filename: other, from, replace: true })
      expect(yield* sqlite.content(other)).toStrictEqual(before)

      yield* sql`INSERT INTO atelier_migrations (migration_id, name) VALUES (9000, 'later')`
      expect((yield* Effect.flip(Sqlite.backup({ filename: place, to: join(folder, "later") }))).reason).toMatch(
        /^belongs to a newer version/
      )

      yield* Effect.promise(() => truncate(from, 300_000))
      const absent = join(folder, "absent.db")
      expect(yield* refusal({ filename: absent, from })).toMatch(/malformed|damaged/)
      yield* Effect.promise(() => writeFile(from, "a text"))
      expect(yield* refusal({ filename: absent, from })).toBe("file is not a database")
      expect(yield* refusal({ filename: other, from, replace: true })).toBe("file is not a database")
      expect(yield* sqlite.content(other)).toStrictEqual(before)
      const files = yield* Effect.promise(() => readdir(folder))
      expect(files.filter((name) => !name.endsWith("-lock")).toSorted()).toStrictEqual(["copy", "other.db"])
    })
  )

  it.scoped("a PostgreSQL database is restored whole or not at all", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const from = join(folder, "copy")
      const { place } = yield* postgres.running
      yield* Postgres.backup({ url: place, to: from })
      const refusal = (url: string, path = from) => Effect.map(Effect.flip(Postgres.restore({ url, from: path })), ({ reason }) => reason)
      expect(yield* refusal(place)).toBe("the database is not empty: name an empty one")

      const url = yield* freshDatabaseUrl
      const copy = gunzipSync(yield* Effect.promise(() => readFile(from))).toString()
      const changed = (content: string) => {
        const path = join(folder, "changed")
        return Effect.as(
          Effect.promise(() => writeFile(path, gzipSync(content))),
          path
        )
      }
      const other = join(folder, "changed")
      yield* Effect.promise(() => writeFile(other, "SQLite format 3"))
      expect(yield* refusal(url, other)).toBe("is no backup of a PostgreSQL database")
      expect(yield* refusal(url, yield* changed(copy.slice(0, -20)))).toBe("ends too early")
      expect(yield* refusal(url, yield* changed(copy.replace('{"end":true}\n', "")))).toBe("ends too early")
      expect(yield* refusal(url, yield* changed("{}\n"))).toBe("is damaged")
      const later = copy.replace(/"migration":\d+/, '"migration":9000')
      expect(yield* refusal(url, yield* changed(later))).toBe("is of a newer version of Atelier")
      yield* Effect.promise(() => truncate(from, 10_000))
      expect(yield* refusal(url)).toBe("unexpected end of file")
      expect(yield* refusal(url, join(folder, "absent"))).toBe("there is no such file")
      expect((yield* Effect.flip(Postgres.backup({ url, to: join(folder, "nothing") }))).reason).toBe("is no database of Atelier")
      expect(yield* postgres.content(url)).toMatchObject({ tables: {} })
      expect((yield* Effect.promise(() => readdir(folder))).toSorted()).toStrictEqual(["changed", "copy"])
    })
  )
})
