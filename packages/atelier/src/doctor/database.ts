/** The database, and its clock. */
import { reasonOf } from "@atelier/core/platform"
import { latestMigration, migrationsTable } from "@atelier/storage"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { shownDatabase } from "../storage.js"
import { type Check, clockFinding, fault, type Finding, ok, warning } from "./Finding.js"

/** Compares the migrations of a database with those of this version. */
const schemaFinding = (applied: number | undefined): Finding => {
  if (applied === undefined) return ok("it is empty: the first start makes its tables")
  if (applied > latestMigration) {
    return fault(
      `a newer version of Atelier has migrated it (${applied}; this one knows ${latestMigration})`,
      "start the newer version, or restore a backup from before the upgrade"
    )
  }
  return applied < latestMigration
    ? ok(`the next start, or atelier migrate, brings it from migration ${applied} to ${latestMigration}`)
    : ok(`it is up to date, at migration ${applied}`)
}

/** Milliseconds that a connection may take. */
const longestConnection = 10_000

const oldestPostgres = 14

const postgres = async (url: string): Promise<ReadonlyArray<Finding>> => {
  const { default: pg } = await import("pg")
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: longestConnection, query_timeout: longestConnection })
  client.on("error", () => undefined)
  try {
    await client.connect()
    const before = Date.now()
    const { rows } = await client.query<{ version: string; now: string; exists: boolean }>(
      "SELECT current_setting('server_version') AS version, extract(epoch FROM clock_timestamp())::text AS now, to_regclass($1) IS NOT NULL AS exists",
      [migrationsTable]
    )
    const after = Date.now()
    const [{ exists, now, version } = { exists: false, now: "0", version: "0" }] = rows
    const applied = exists
      ? await client.query<{ last: number }>(`SELECT max(migration_id)::int AS last FROM ${migrationsTable}`)
      : undefined
    const isOld = Number.parseInt(version, 10) < oldestPostgres
    return [
      isOld ? fault(`PostgreSQL ${version} is too old`, `upgrade it to ${oldestPostgres} or newer`) : ok(`PostgreSQL ${version} answers`),
      schemaFinding(applied?.rows[0]?.last),
      clockFinding("the database", Number(now) * 1000, before, after)
    ]
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** What SQLite finds in a file, and the last migration; undefined for a file without tables. */
const look = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [checked] = yield* sql<{ quick_check: string }>`PRAGMA quick_check(1)`
  const tables = yield* sql`SELECT 1 FROM sqlite_schema WHERE name = ${migrationsTable}`
  const rows = tables.length === 0 ? [] : yield* sql<{ last: number }>`SELECT max(migration_id) AS last FROM ${sql(migrationsTable)}`
  return { verdict: checked?.quick_check ?? "ok", applied: rows[0]?.last }
})

const sqlite = async (filename: string): Promise<ReadonlyArray<Finding>> => {
  if (filename === ":memory:") return [warning("it is in memory, and ends with the server", "name a file with --database sqlite:FILE")]
  if (!existsSync(filename)) return [ok("the first start makes it")]
  const { SqliteClient } = await import("@effect/sql-sqlite-node")
  const client = SqliteClient.layer({ filename, readonly: true, disableWAL: true })
  const { applied, verdict } = await Effect.runPromise(Effect.provide(look, client))
  return [
    verdict === "ok" ? ok("it is whole") : fault(`it is damaged: ${verdict}`, "stop the server, and restore a backup"),
    schemaFinding(applied)
  ]
}

export const databaseFindings: Check = async ({ database }) => {
  const found = database.kind === "sqlite" ? sqlite(database.filename) : postgres(database.url)
  const advice =
    database.kind === "sqlite"
      ? "check that the user of the server may read the file, and that it is a database of Atelier"
      : "start PostgreSQL, and check the host, the user, the password and the name in the URL"
  const name = shownDatabase(database)
  const failed = (error: unknown): ReadonlyArray<Finding> => [fault(`it cannot be used: ${reasonOf(error)}`, advice)]
  return (await found.catch(failed)).map((finding) => ({ ...finding, text: `${name}: ${finding.text}` }))
}
