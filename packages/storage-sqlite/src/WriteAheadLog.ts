import { services, type StartError } from "@atelier/core/platform"
import { SqlClient, type SqlError } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Effect, ExecutionStrategy, Exit, Layer, Scope } from "effect"
import * as fs from "node:fs/promises"
import { checkpoints } from "./Checkpoints.js"
import { forServers, inUse } from "./FileOwner.js"

const codeOf = ({ cause }: SqlError.SqlError): string => String(cause instanceof Error && "code" in cause ? cause.code : "")

/** How many names a file has. */
const namesOf = (filename: string): Effect.Effect<number> =>
  Effect.promise(() =>
    fs.stat(filename).then(
      ({ nlink }) => nlink,
      () => 1
    )
  )

const noRoom = /^SQLITE_(FULL|IOERR_SHM\w+)$/

/** Has a database write to a log, and checks that it can be written. */
const openLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`PRAGMA journal_mode = WAL`
  yield* sql`BEGIN IMMEDIATE`
  // In a file that is read-only, the transaction begins as one that reads. The version is not used, and is not written
  yield* sql`PRAGMA user_version = 0`
  yield* sql`ROLLBACK`
})

/** Locks the database for this process. Fails at once while another process uses it: waiting for that process could take for ever. */
const openAlone = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`PRAGMA busy_timeout = 0`
  yield* sql`PRAGMA locking_mode = EXCLUSIVE`
  yield* openLog
})

/** Opens a client. One that cannot be used is closed at once: another one may be tried. */
const opened = <E>(filename: string, open: Effect.Effect<void, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const client = Layer.buildWithScope(SqliteClient.layer({ filename, disableWAL: true }), scope)
    const used = Effect.tap(Effect.orDie(client), (context) => Effect.provide(open, context))
    return yield* Effect.onError(used, (cause) => Scope.close(scope, Exit.failCause(cause)))
  })

/**
 * The client of a file with a log. Other programs may read the file beside, by way of another file that all of them map. Two kinds are used by this process alone,
 * which needs no other file. A file with further names (hard links) has a log for each, so only SQLite's lock on the file itself keeps a second server away. And a
 * full disk has no room for another file.
 */
export const clientOf = (filename: string): Layer.Layer<SqliteClient.SqliteClient | SqlClient.SqlClient, SqlError.SqlError | StartError> =>
  services(
    Effect.flatMap(namesOf(filename), (names) => {
      if (names > 1) {
        return Effect.mapError(opened(filename, openAlone), (error) =>
          codeOf(error) === "SQLITE_BUSY" ? inUse(filename, forServers) : error
        )
      }
      const warned = Effect.logWarning("the disk is full: until the next start, no other program can read the database")
      const copied = filename === ":memory:" ? Effect.void : checkpoints(filename)
      return opened(filename, openLog).pipe(
        Effect.tap((context) => Effect.provide(copied, context)),
        Effect.catchAll((error) => (noRoom.test(codeOf(error)) ? opened(filename, Effect.zipRight(warned, openAlone)) : Effect.fail(error)))
      )
    })
  )
