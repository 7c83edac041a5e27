/** SQLite's driver. */
import { Effect } from "effect"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

/**
 * Finds the file of the driver that the client uses: two drivers in one process would give up each other's locks on a database. The client's package brings it,
 * except in the program, which has that package in itself and resolves none.
 */
export const driverPath = Effect.try(() => createRequire(require.resolve("@effect/sql-sqlite-node")).resolve("better-sqlite3")).pipe(
  Effect.orElse(() => Effect.try(() => require.resolve("better-sqlite3")))
)
