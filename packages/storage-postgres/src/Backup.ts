import { reasonOf, StartError } from "@atelier/core/platform"
import { clientStatements, migrateTo, migrationsTable, Statements, versionOf } from "@atelier/storage"
import { type Violation, violationsIn } from "@atelier/storage/invariants"
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "@effect/sql"
import { Effect, Layer, Redacted, Schema } from "effect"
import { createReadStream, createWriteStream } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname } from "node:path"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { isPostgresUrl, withSettings, shown, urlForm } from "./ConnectionUrl.js"
import { makePool } from "./Pool.js"

export interface BackupOptions {
  /** The URL of the database. Servers may use it during the backup. */
  readonly url: Redacted.Redacted<string> | string
  /** The file to make, for its owner alone. It must not exist. */
  readonly to: string
}

export interface RestoreOptions {
  /** The URL of an empty database. */
  readonly url: Redacted.Redacted<string> | string
  /** A file that `backup` has made. */
  readonly from: string
}

export interface Version {
  /** The number of the last migration that was applied to the data. */
  readonly migration: number
}

export interface Backup extends Version {
  /** The size of the file. */
  readonly bytes: number
}

/** The lines of a file, which is compressed by gzip: a head, then each table with its rows, then the sequences, and an end. A row is a text that PostgreSQL reads as a row of the table's type. */
const Head = Schema.Struct({ format: Schema.Literal("atelier-postgres-1"), migration: Schema.Number })
const Table = Schema.Struct({ table: Schema.String, columns: Schema.Array(Schema.String) })
const Row = Schema.String
const Sequence = Schema.Struct({ sequence: Schema.String, last: Schema.NullOr(Schema.String) })
const End = Schema.Struct({ end: Schema.Literal(true) })
const Line = Schema.parseJson(Schema.Union(Row, Table, Sequence, Head, End))
type Line = typeof Line.Type

const failing = (option: string, value: string) => (reason: unknown) =>
  reason instanceof StartError ? reason : new StartError({ option, value, reason: reasonOf(reason) })

/** Runs an effect with the statements of a connection of its own, without limits of time by the server. */
const connected = <A>(
  { url: given }: Pick<BackupOptions, "url">,
  effect: Effect.Effect<A, unknown, Statements>
): Effect.Effect<A, StartError> =>
  Effect.gen(function* () {
    const url = Redacted.isRedacted(given) ? Redacted.value(given) : given
    if (!isPostgresUrl(url)) return yield* new StartError({ option: "storage.url", reason: `must be ${urlForm}` })
    const answer = Effect.gen(function* () {
      const { pool } = yield* makePool(Redacted.make(withSettings(url)), { max: 1, connectionTimeout: 10_000, statementTimeout: 0 })
      const statements = Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements))
      return yield* Effect.provide(effect, Layer.provide(statements, PgClient.layerFromPool({ acquire: Effect.succeed(pool) })))
    })
    return yield* Effect.mapError(Effect.scoped(answer), failing("storage.url", shown(url)))
  })

/** Returns the rows that break an invariant. Servers may use the database at the same time. Reads only. */
export const check = ({ url }: Pick<BackupOptions, "url">): Effect.Effect<ReadonlyArray<Violation>, StartError> =>
  read({ url }, violationsIn)

/** Runs an effect with the statements of a database. Servers may use it at the same time. Fails with `StartError` for a database of a newer version. */
export const read = <A>({ url }: Pick<BackupOptions, "url">, effect: Effect.Effect<A, unknown, Statements>): Effect.Effect<A, StartError> =>
  connected({ url }, Effect.zipRight(versionOf, effect))

interface StoredTable {
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly has_bytes: boolean
}

const Columns = Schema.parseJson(Schema.Array(Schema.String))

/** The tables of the schema but the record of migrations, with the columns that are stored and not computed. */
const tables = Effect.gen(function* () {
  const sql = yield* Statements
  const found = yield* sql<{ readonly table: string; readonly columns: string; readonly has_bytes: boolean }>`
    SELECT c.relname AS "table", json_agg(a.attname ORDER BY a.attnum)::text AS columns, bool_or(a.atttypid = 'bytea'::regtype) AS has_bytes
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ${migrationsTable}
    GROUP BY c.relname ORDER BY c.relname`
  return yield* Effect.forEach(found, (one) =>
    Effect.map(Schema.decode(Columns)(one.columns), (columns): StoredTable => ({ ...one, columns }))
  )
})

/** Characters of rows that are held at a time, where they are not larger each. */
const held = 4 * 1024 ** 2

/** Reads the rows of a table in parts of about the size that is held. */
const rowsOf = ({ columns, has_bytes, table }: StoredTable, write: (line: Line) => Effect.Effect<void, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const most = has_bytes ? 8 : 1000
    const row = sql.join(", ", false)(columns.map((column) => sql`${sql(column)}`))
    yield* sql`DECLARE backup_rows NO SCROLL CURSOR FOR SELECT ROW(${row})::text AS found FROM ${sql(table)}`
    let largest = 1
    for (let part = 1, isOver = false; !isOver; part = Math.max(1, Math.min(most, Math.floor(held / largest)))) {
      const found = yield* sql.run<{ readonly found: string }>(`FETCH ${part} FROM backup_rows`)
      for (const one of found) {
        largest = Math.max(largest, one.found.length)
        yield* write(one.found)
      }
      isOver = found.length < part
    }
    yield* sql`CLOSE backup_rows`
  })

const copyTo = (write: (line: Line) => Effect.Effect<void, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    return yield* sql.transaction(
      Effect.gen(function* () {
        yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
        // No version migrates during the backup. A lock is no statement that begins the state that is read
        yield* Effect.orElseFail(sql`LOCK TABLE ${sql(migrationsTable)} IN ACCESS SHARE MODE`, () => "is no database of Atelier")
        const migration = yield* versionOf
        yield* write({ format: "atelier-postgres-1", migration })
        for (const table of yield* tables) {
          yield* write({ table: table.table, columns: table.columns })
          yield* rowsOf(table, write)
        }
        const sequences = yield* sql<{ readonly sequence: string; readonly last: string | null }>`
          SELECT sequencename AS sequence, last_value::text AS last FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1`
        for (const { last, sequence } of sequences) yield* write({ sequence, last })
        yield* write({ end: true })
        return migration
      })
    )
  })

/** Writes lines into a file that is made, and compressed. */
const intoFile = <A, E, R>(path: string, fill: (write: (line: Line) => Effect.Effect<void, Error>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const compressed = createGzip()
    const written = pipeline(compressed, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }))
    // Told by the writing of a line, and at the end
    written.catch(() => {})
    const write = (line: Line) =>
      Effect.async<void, Error>((resume) => {
        compressed.write(`${JSON.stringify(line)}\n`, (error) => resume(error ? Effect.fail(error) : Effect.void))
      })
    const answer = yield* Effect.onExit(fill(write), (exit) =>
      Effect.sync(() => void (exit._tag === "Success" ? compressed.end() : compressed.destroy()))
    )
    yield* Effect.tryPromise(() => written)
    return answer
  })

const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    fs.access(path).then(
      () => true,
      () => false
    )
  )

/**
 * Copies a database while servers use it: the copy has all that was committed when it began, and nothing of what came later. Servers of a newer version wait for its
 * end before they migrate. It needs no program of PostgreSQL. Fails with `StartError`, and then there is no file.
 */
export const backup = ({ to, url }: BackupOptions): Effect.Effect<Backup, StartError> =>
  Effect.gen(function* () {
    if (yield* exists(to)) return yield* new StartError({ option: "to", value: to, reason: "the file exists: name a new one" })
    if (!(yield* exists(dirname(to)))) return yield* new StartError({ option: "to", value: to, reason: "its folder does not exist" })
    const part = `${to}.part`
    const place = async (): Promise<number> => {
      const { size } = await fs.stat(part)
      await fs.rename(part, to)
      const folder = await fs.open(dirname(to))
      await folder.sync()
      await folder.close()
      return size
    }
    const remove = Effect.promise(() => fs.rm(part, { force: true }))
    const [migration, bytes] = yield* Effect.acquireUseRelease(
      remove,
      () => {
        const copied = intoFile(part, (write) =>
          connected(
            { url },
            copyTo((line) => Effect.mapError(write(line), failing("to", to)))
          )
        )
        return Effect.zip(copied, Effect.tryPromise(place)).pipe(Effect.mapError(failing("to", to)))
      },
      () => remove
    )
    return { migration, bytes }
  })

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/** Runs an effect without the rules that rows of different tables have to keep, and what follows from a row: the data keep the former, and have the latter. */
const withoutRules = <A, E, R>(names: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const keys = yield* sql<ForeignKey>`
      SELECT r.relname AS "table", c.conname AS name, pg_get_constraintdef(c.oid) AS definition FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
      WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace ORDER BY r.relname, c.conname`
    for (const { name, table } of keys) yield* sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(name)}`
    for (const name of names) yield* sql`ALTER TABLE ${sql(name)} DISABLE TRIGGER USER`
    const answer = yield* effect
    for (const name of names) yield* sql`ALTER TABLE ${sql(name)} ENABLE TRIGGER USER`
    for (const { definition, name, table } of keys) {
      yield* sql`ALTER TABLE ${sql(table)} ADD CONSTRAINT ${sql(name)} ${sql.literal(definition)}`
    }
    return answer
  })

/** Stores the lines behind the head. */
const store = (next: Effect.Effect<Line, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    let into: typeof Table.Type | undefined
    let rows: Array<string> = []
    let size = 0
    const flush = Effect.gen(function* () {
      if (into === undefined || rows.length === 0) return
      const columns = sql.join(", ", false)(into.columns.map((column) => sql`${sql(column)}`))
      const given = rows
      rows = []
      size = 0
      yield* sql`INSERT INTO ${sql(into.table)} (${columns}) OVERRIDING SYSTEM VALUE
        SELECT found.* FROM unnest(CAST(CAST(${given} AS text[]) AS pg_temp.restored_rows[])) AS found`
    })
    for (;;) {
      const line = yield* next
      if (typeof line === "string") {
        rows.push(line)
        size += line.length
        if (size > held || rows.length === 1000) yield* flush
        continue
      }
      yield* flush
      if ("end" in line) return
      if ("table" in line) {
        into = line
        const columns = sql.join(", ", false)(line.columns.map((column) => sql`${sql(column)}`))
        yield* sql`DROP TABLE IF EXISTS pg_temp.restored_rows`
        // Its type has the columns of the rows
        yield* sql`CREATE TEMPORARY TABLE restored_rows ON COMMIT DROP AS SELECT ${columns} FROM ${sql(line.table)} WITH NO DATA`
      } else if ("sequence" in line && line.last !== null) {
        yield* sql`SELECT setval(CAST(quote_ident(${line.sequence}) AS regclass), CAST(${line.last} AS bigint))`
      }
    }
  })

const restoreFrom = (next: Effect.Effect<Line, StartError>, refused: (reason: string) => StartError) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const head = yield* next
    if (typeof head === "string" || !("migration" in head)) return yield* refused("is no backup of Atelier")
    yield* sql.transaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
        if ((yield* tables).length > 0) return yield* Effect.fail("the database is not empty: name an empty one")
        yield* migrateTo(head.migration)
        if ((yield* versionOf) !== head.migration) return yield* refused("is of a newer version of Atelier")
        const names = (yield* tables).map(({ table }) => table)
        yield* withoutRules(
          names,
          // Migrations have stored rows of their own
          Effect.zipRight(sql`TRUNCATE ${sql.join(", ", false)(names.map((name) => sql`${sql(name)}`))}`, store(next))
        )
      })
    )
    // The planner knows nothing of the rows yet
    yield* sql`ANALYZE`
    return { migration: head.migration }
  })

/** The lines of a text, one at a time: a line may have megabytes. */
async function* linesOf(content: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let begun: Array<string> = []
  for await (const chunk of content) {
    const [end = "", ...others] = chunk.split("\n")
    begun.push(end)
    for (const next of others) {
      yield begun.join("")
      begun = [next]
    }
  }
}

/** Whether a file does not begin as a compressed one does. */
const isOtherFormat = (error: unknown): boolean => error instanceof Error && error.message === "incorrect header check"

/**
 * Fills an empty database with a backup, in one transaction. Fails with `StartError` for a database that has tables, and for a backup that is damaged or of a newer version; the
 * database then stays empty. The next server brings the data up to date.
 */
export const restore = ({ from, url }: RestoreOptions): Effect.Effect<Version, StartError> =>
  Effect.acquireUseRelease(
    Effect.gen(function* () {
      if (!(yield* exists(from))) return yield* new StartError({ option: "from", value: from, reason: "there is no such file" })
      const content = createGunzip()
      // Its failure is that of the content
      pipeline(createReadStream(from), content).catch(() => {})
      return content
    }),
    (content) => {
      const lines = linesOf(content.setEncoding("utf8"))
      const decode = Schema.decodeUnknown(Line)
      const next = Effect.tryPromise({
        try: () => lines.next(),
        catch: (error) => (isOtherFormat(error) ? "is no backup of a PostgreSQL database" : error)
      }).pipe(
        Effect.flatMap(({ done, value }) =>
          done === true ? Effect.fail("ends too early") : Effect.orElseFail(decode(value), () => "is damaged")
        ),
        Effect.mapError(failing("from", from))
      )
      return connected({ url }, restoreFrom(next, failing("from", from)))
    },
    (content) => Effect.sync(() => content.destroy())
  )
