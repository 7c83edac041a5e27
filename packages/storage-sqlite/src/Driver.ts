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

/** The methods of the driver that are called here. The driver has no types. */
export interface Database {
  readonly prepare: (text: string) => { readonly pluck: () => { readonly get: () => unknown } }
  readonly exec: (text: string) => unknown
  readonly close: () => void
}

/** Opens a connection without a client, which waits for no lock. */
export const connect = (filename: string, { isThere }: { readonly isThere: boolean }) =>
  Effect.flatMap(driverPath, (path) =>
    Effect.try((): Database => Reflect.construct(require(path), [filename, { fileMustExist: isThere, timeout: 0 }]))
  )
