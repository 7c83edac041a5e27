/** Whether anything was committed to a database file, asked of a connection that does nothing else. */
import { SqlClient } from "@effect/sql"
import { Effect, type Scope } from "effect"
import { connect } from "./Driver.js"

/** Returns a number that is another one once anything was committed, on whichever connection and by whichever program. Throws if SQLite cannot tell. */
export type Watch = () => unknown

/** The watch of a client's file. Undefined for a database in memory, for a client that has locked the file for itself, and where the file cannot be opened again. */
export const watchOf = (filename: string): Effect.Effect<Watch | undefined, never, Scope.Scope | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ locking_mode } = {}] = yield* sql<{ readonly locking_mode?: unknown }>`PRAGMA locking_mode`
    if (filename === ":memory:" || locking_mode !== "normal") return undefined
    // Another connection than the client's, which keeps its own to itself. It waits for no lock: its caller reads the row instead. A call takes a quarter of a statement
    const database = yield* Effect.acquireRelease(connect(filename, { isThere: true }), (database) => Effect.sync(() => database.close()))
    const statement = yield* Effect.try(() => database.prepare("PRAGMA data_version").pluck())
    return () => statement.get()
  }).pipe(Effect.orElseSucceed(() => undefined))
