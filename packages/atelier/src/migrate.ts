/** Brings the database up to date without serving: `atelier migrate`. */
import { Effect, Layer } from "effect"
import { makeDataDirectory } from "./DataDirectory.js"
import { onDatabase } from "./onDatabase.js"
import { printed } from "./printed.js"
import { shownDatabase, storageOf } from "./storage.js"

/** Migrates, and returns the exit code. */
export const run = (words: ReadonlyArray<string>): Promise<number> =>
  onDatabase(words, {
    usage: "migrate",
    help: "Brings the database up to date, as the start of the server does, and ends.",
    run: async (options) => {
      await makeDataDirectory(options)
      await Effect.runPromise(Effect.scoped(Layer.build(await storageOf(options))))
      return printed(`The database ${shownDatabase(options.database)} is up to date\n`)
    }
  })
