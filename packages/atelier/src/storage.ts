/** The database that the options name. */
import { reasonOf, StartError } from "@atelier/core/platform"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
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

/** Refuses a SQLite database where its driver is missing: npm goes on without it where it can be neither fetched nor compiled. Throws `StartError`. */
const requireDriver = (): void => {
  try {
    const driver: unknown = createRequire(import.meta.url)("better-sqlite3")
    // Its compiled part is loaded with the first database
    if (typeof driver === "function") Reflect.construct(driver, [":memory:"]).close()
  } catch (error) {
    const [first = "", ...more] = reasonOf(error).split("\n")
    // The message's other lines name the versions. The driver's version 13 has one binary for all of them, and nothing to compile
    const isOfAnotherNode = more.some((line) => line.includes("NODE_MODULE_VERSION"))
    const command = isOfAnotherNode ? "npm rebuild better-sqlite3" : "npm install better-sqlite3@12"
    const reason = isOfAnotherNode ? "It is compiled for another version." : first
    throw new StartError({
      option: "database",
      reason: `SQLite needs the package better-sqlite3, compiled for Node.js ${process.versions.node}: run "${command}" in the folder where atelier is installed, which takes a C++ compiler and Python where there is no prebuilt binary, or name a PostgreSQL. ${reason}`
    })
  }
}

/** Loads the driver of one kind of database alone. */
export const storageOf = async ({
  database,
  databaseStatementTimeout: statementTimeout
}: Pick<Options, "database" | "databaseStatementTimeout">) => {
  if (database.kind === "postgres") return (await loadPostgres()).Postgres.layer({ url: database.url, statementTimeout })
  requireDriver()
  return (await import("@atelier/storage-sqlite")).Sqlite.layer({ filename: database.filename })
}

/** Refuses a database file that is not there: a command that changes what is stored makes no new one. Throws `StartError`. */
export const requireDatabase = ({ database }: Pick<Options, "database">): void => {
  if (database.kind === "sqlite" && !existsSync(database.filename))
    throw new StartError({ option: "database", value: database.filename, reason: "there is no such file" })
}

/** How the database is shown: without a password. */
export const shownDatabase = (database: Options["database"]): string => {
  if (database.kind === "sqlite") return database.filename
  const { host, pathname } = new URL(database.url)
  return `${host}${pathname}`
}
