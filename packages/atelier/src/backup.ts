/** Copies the database, and makes one of a copy: `atelier backup FILE`, `atelier restore FILE`. */
import type { StartError } from "@atelier/core/platform"
import { Effect } from "effect"
import { resolve } from "node:path"
import { makeDataDirectory } from "./DataDirectory.js"
import { onDatabase } from "./onDatabase.js"
import { type Options, UsageError } from "./Options.js"
import { printed } from "./printed.js"
import { shownDatabase } from "./storage.js"

/** A command on a database and a file, which is named first. */
const withFile =
  (word: string, help: string, use: (options: Options, file: string) => Promise<string>) =>
  ([file = "", ...words]: ReadonlyArray<string>): Promise<number> => {
    const isMissing = file === "" || file.startsWith("-")
    return onDatabase(file.startsWith("-") ? [file, ...words] : words, {
      usage: `${word} FILE`,
      help,
      run: async (options) => {
        if (isMissing) throw new UsageError(`The file is missing: ${word} FILE`)
        return printed(`${await use(options, resolve(file))}\n`)
      }
    })
  }

/** Runs an effect, and throws its own failure. */
const run = async <A>(effect: Effect.Effect<A, StartError>): Promise<A> => {
  const either = await Effect.runPromise(Effect.either(effect))
  if (either._tag === "Right") return either.right
  throw either.left
}

export const backup = withFile(
  "backup",
  "Copies the database into a new file while servers use it. The file is for its owner alone.",
  async ({ database }, to) => {
    const copy =
      database.kind === "sqlite"
        ? (await import("@atelier/storage-sqlite")).Sqlite.backup({ filename: database.filename, to })
        : (await import("@atelier/storage-postgres")).Postgres.backup({ url: database.url, to })
    const { bytes, migration } = await run(copy)
    return `${to} has ${shownDatabase(database)} at migration ${migration}, ${bytes} bytes`
  }
)

export const restore = withFile(
  "restore",
  "Makes a database of a copy: a SQLite file that is not there yet, or an empty database of PostgreSQL. The next start of the server brings it up to date.",
  async (options, from) => {
    const { database } = options
    await makeDataDirectory(options)
    const restored =
      database.kind === "sqlite"
        ? (await import("@atelier/storage-sqlite")).Sqlite.restore({ filename: database.filename, from })
        : (await import("@atelier/storage-postgres")).Postgres.restore({ url: database.url, from })
    const { migration } = await run(restored)
    return `${shownDatabase(database)} has what ${from} had, at migration ${migration}`
  }
)
