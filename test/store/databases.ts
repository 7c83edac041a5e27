/** The databases the tests run against: each suite gets an empty one of its own, of either kind. */
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Effect, Layer } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import { inject } from "vitest"

const administer = async (statement: (client: pg.Client) => Promise<unknown>): Promise<void> => {
  const client = new pg.Client({ connectionString: inject("postgresUrl") })
  await client.connect()
  try {
    await statement(client)
  } finally {
    await client.end()
  }
}

const urlOf = (name: string): string => {
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${name}`
  return url.href
}

/** Makes a PostgreSQL database as the options of `CREATE DATABASE` say. Answers its name. */
const makeDatabase = async (options: string): Promise<string> => {
  const name = `test_${randomBytes(8).toString("hex")}`
  await administer((client) => client.query(`CREATE DATABASE ${name} ${options}`))
  return name
}

/** A new PostgreSQL database; it goes with the scope. Answers its connection URL. */
const freshDatabase = (options: string) =>
  Effect.acquireRelease(
    Effect.promise(() => makeDatabase(options)),
    (name) => Effect.promise(() => administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  ).pipe(Effect.map(urlOf))

/** Connection URL of a new, empty PostgreSQL database; it goes with the scope. */
export const freshDatabaseUrl = freshDatabase("")

/** Makes the database that others are copies of, with all tables and no rows: once in a run, whichever worker asks first. */
const makeTemplate = async (): Promise<void> => {
  await administer(async (client) => {
    // The lock goes with the connection
    await client.query("SELECT pg_advisory_lock(1)")
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'migrated'")
    if (rowCount !== 0) return
    await client.query("DROP DATABASE IF EXISTS migrating")
    await client.query("CREATE DATABASE migrating")
    await Effect.runPromise(Effect.scoped(Layer.build(Postgres.layer({ url: urlOf("migrating"), maxConnections: 2 }))))
    await client.query("ALTER DATABASE migrating RENAME TO migrated")
  })
}

let template: Promise<void> | undefined

/** Copying files takes less than logging each of their pages. */
const copied = "TEMPLATE migrated STRATEGY file_copy"

/** Connection URL of a new PostgreSQL database with all tables and no rows; it goes with the scope. */
export const databaseUrl = Effect.zipRight(
  Effect.promise(() => (template ??= makeTemplate())),
  freshDatabase(copied)
)

/** Connection URL of a new PostgreSQL database with all tables and no rows, for programs; it goes with the run. */
export const lastingDatabaseUrl = async (): Promise<string> => {
  await (template ??= makeTemplate())
  return urlOf(await makeDatabase(copied))
}

/** As `lastingDatabaseUrl` of an empty database. */
export const lastingEmptyDatabaseUrl = async (): Promise<string> => urlOf(await makeDatabase(""))

/** The content of a database with all tables and no rows. */
const makeImage = (): Promise<Uint8Array> =>
  Effect.flatMap(SqliteClient.SqliteClient, (client) => client.export).pipe(
    Effect.provide(Sqlite.layer({ filename: ":memory:" })),
    Effect.runPromise
  )

let image: Promise<Uint8Array> | undefined

/** SQLite in memory: a copy of a database that is migrated once. */
export const sqlite = Layer.unwrapEffect(
  Effect.map(
    Effect.promise(() => (image ??= makeImage())),
    // Where the client's type wants the name of a file, the driver takes the content of one too
    (content) => Sqlite.layerOn(Layer.orDie(SqliteClient.layer({ filename: content as unknown as string })))
  )
)

/** SQLite in a file of a folder, which outlives the server on it: the first time a copy of a database that is migrated once. */
export const sqliteIn = (folder: string) =>
  Layer.unwrapEffect(
    Effect.promise(async () => {
      const filename = join(folder, "atelier.db")
      if (!existsSync(filename)) await writeFile(filename, await (image ??= makeImage()))
      return Sqlite.layer({ filename })
    })
  )

const postgresAt = (database: typeof freshDatabaseUrl) =>
  Layer.unwrapScoped(Effect.map(database, (url) => Postgres.layer({ url, maxConnections: 5 })))

/** A database without rows on the run's PostgreSQL server. */
export const postgres = postgresAt(databaseUrl)

/** One that knows the case of all of Unicode's letters, as most operators have it. */
export const postgresOfUnicode = postgresAt(freshDatabase("TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"))

/** Both, by name, for `describe.each`: one suite holds for every storage package. */
export const databases = [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
] as const

export type Database = (typeof databases)[number]

/** The database that takes the least, for suites that run few statements. */
export const oneDatabase: ReadonlyArray<Database> = databases.slice(0, 1)

/**
 * A suite's databases: one that its name decides, for a sixth of the names PostgreSQL, on which a test takes twice as long: the tests of storage
 * run each statement on both. Of the bytes of the hash, the 24th gives each area suites and conversations on either.
 */
export const databasesOf = (name: string): ReadonlyArray<Database> => {
  const isOnPostgres = createHash("sha256").update(name).digest().readUInt8(23) % 6 === 5
  return isOnPostgres ? databases.slice(1) : databases.slice(0, 1)
}

/** The databases that play recorded conversations, each with the names of its own. */
export const spread = (names: ReadonlyArray<string>): ReadonlyArray<readonly [database: Database, names: ReadonlyArray<string>]> =>
  databases
    .map((database) => [database, names.filter((name) => databasesOf(name).includes(database)).toSorted()] as const)
    .filter(([, own]) => own.length > 0)
