/** The database that the options name. */
import type { Options } from "./Options.js"

/**
 * PostgreSQL's driver looks at `navigator` to know its platform. Node 20 has none, so that the driver would make a `Response`, for which Node loads all of
 * its `fetch`.
 */
const loadPostgres = async () => {
  const navigator = Object.getOwnPropertyDescriptor(globalThis, "navigator")
  if (navigator === undefined) Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Node.js" }, configurable: true })
  try {
    return await import("@atelier/storage-postgres")
  } finally {
    if (navigator === undefined) Reflect.deleteProperty(globalThis, "navigator")
  }
}

/** Loads the driver of one kind of database alone. */
export const storageOf = async ({
  database,
  databaseStatementTimeout: statementTimeout
}: Pick<Options, "database" | "databaseStatementTimeout">) => {
  if (database.kind === "postgres") return (await loadPostgres()).Postgres.layer({ url: database.url, statementTimeout })
  return (await import("@atelier/storage-sqlite")).Sqlite.layer({ filename: database.filename })
}

/** How the database is shown: without a password. */
export const shownDatabase = (database: Options["database"]): string => {
  if (database.kind === "sqlite") return database.filename
  const { host, pathname } = new URL(database.url)
  return `${host}${pathname}`
}
