/** Whether anything was committed to a database file, asked of a connection that does nothing else. */
import { SqlClient } from "@effect/sql"
import { Effect, type Scope } from "effect"
import { createRequire } from "node:module"
import { driverPath } from "./Driver.js"

/** Returns a number that is another one once anything was committed, on whichever connection and by whichever program. Throws if SQLite cannot tell. */
export type Watch = () => unknown

/** What the watch uses of the driver, which has no types. */
interface Database {
  readonly prepare: (text: string) => { readonly pluck: () => { readonly get: () => unknown } }
  readonly close: () => void
}

const require = createRequire(import.meta.url)

/** Opens another connection to the file of the client, which keeps its own to itself. A call of it takes a quarter of a statement through the client. */
const open = (filename: string) =>
  Effect.flatMap(driverPath, (path) =>
    // The watch waits for no lock: its caller reads the row instead
    Effect.try((): Database => Reflect.construct(require(path), [filename, { fileMustExist: true, timeout: 0 }]))
  )

/** The watch of a client's file. Undefined for a database in memory, for a client that has locked the file for itself, and where the file cannot be opened again. */
export const watchOf = (filename: string): Effect.Effect<Watch | undefined, never, Scope.Scope | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ locking_mode } = {}] = yield* sql<{ readonly locking_mode?: unknown }>`PRAGMA locking_mode`
    if (filename === ":memory:" || locking_mode !== "normal") return undefined
    const database = yield* Effect.acquireRelease(open(filename), (database) => Effect.sync(() => database.close()))
    const statement = yield* Effect.try(() => database.prepare("PRAGMA data_version").pluck())
    return () => statement.get()
  }).pipe(Effect.orElseSucceed(() => undefined))
