/** The databases the tests run against: each suite gets an empty one of its own, of either kind. */
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
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

const freshDatabase = (options = "") =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const name = `test_${randomBytes(8).toString("hex")}`
      await administer((client) => client.query(`CREATE DATABASE ${name} ${options}`))
      const url = new URL(inject("postgresUrl"))
      url.pathname = `/${name}`
      return { name, url: url.href }
    }),
    ({ name }) => Effect.promise(() => administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  ).pipe(Effect.map(({ url }) => url))

/** Connection URL of a new, empty PostgreSQL database; it goes with the scope. */
export const freshDatabaseUrl = freshDatabase()

/** SQLite in memory. */
export const sqlite = Layer.suspend(() => Sqlite.layer({ filename: ":memory:" }))

const postgresAt = (database: typeof freshDatabaseUrl) =>
  Layer.unwrapScoped(Effect.map(database, (url) => Postgres.layer({ url, maxConnections: 5 })))

/** An empty database on the run's PostgreSQL server. */
export const postgres = postgresAt(freshDatabaseUrl)

/** One that knows the case of all of Unicode's letters, as most operators have it. */
export const postgresOfUnicode = postgresAt(freshDatabase("TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"))

/** Both, by name, for `describe.each`: one suite holds for every storage package. */
export const databases = [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
] as const
