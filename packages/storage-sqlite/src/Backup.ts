import { reasonOf, StartError } from "@atelier/core/platform"
import { clientStatements, Statements, versionOf } from "@atelier/storage"
import { type Violation, violationsIn } from "@atelier/storage/invariants"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Effect, Layer } from "effect"
import { constants } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname } from "node:path"
import { owned } from "./FileOwner.js"

export interface BackupOptions {
  /** The database. A server may use it during the backup. */
  readonly filename: string
  /** The file to make, for its owner alone. It must not exist. */
  readonly to: string
}

export interface RestoreOptions {
  /** The database to make. No server may use it. */
  readonly filename: string
  /** A file that `backup` has made. */
  readonly from: string
  /** Whether a database that is there is replaced; no unless given. */
  readonly replace?: boolean
}

export interface Version {
  /** The number of the last migration that was applied to the data. */
  readonly migration: number
}

export interface Backup extends Version {
  /** The size of the file. */
  readonly bytes: number
}

const failing = (option: string, value: string) => (reason: unknown) =>
  reason instanceof StartError ? reason : new StartError({ option, value, reason: reasonOf(reason) })

const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    fs.access(path).then(
      () => true,
      () => false
    )
  )

/** Makes a file by an effect under a name of its own. It has its name as soon as it is whole and on the disk. */
const completed = <A, E, R>(path: string, write: (part: string) => Effect.Effect<A, E, R>) => {
  const part = `${path}.part`
  const place = async (): Promise<number> => {
    const file = await fs.open(part, "r+")
    await file.sync()
    const { size } = await file.stat()
    await file.close()
    await fs.rename(part, path)
    const folder = await fs.open(dirname(path))
    await folder.sync()
    await folder.close()
    return size
  }
  return Effect.acquireUseRelease(
    Effect.tryPromise(() => fs.rm(part, { force: true })),
    () => Effect.flatMap(write(part), (answer) => Effect.map(Effect.tryPromise(place), (size) => [answer, size] as const)),
    () => Effect.promise(() => fs.rm(part, { force: true }))
  )
}

/** Runs an effect with the statements of a file that is no other layer's. */
const inFile = <A, E>(filename: string, effect: Effect.Effect<A, E, SqlClient.SqlClient | Statements>) =>
  Effect.provide(
    effect,
    Layer.provideMerge(
      Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements)),
      Layer.orDie(SqliteClient.layer({ filename, disableWAL: true }))
    )
  )

/**
 * Copies a database while a server uses it: the copy has all that was committed when it began, and nothing of what came later. The statement that copies keeps its
 * thread, so a server does not call this for its own database; another process does. Fails with `StartError`, and then there is no file.
 */
export const backup = ({ filename, to }: BackupOptions): Effect.Effect<Backup, StartError> =>
  Effect.gen(function* () {
    if (!(yield* exists(filename))) {
      return yield* new StartError({ option: "storage.filename", value: filename, reason: "there is no such file" })
    }
    if (yield* exists(to)) return yield* new StartError({ option: "to", value: to, reason: "the file exists: name a new one" })
    if (!(yield* exists(dirname(to)))) return yield* new StartError({ option: "to", value: to, reason: "its folder does not exist" })
    const copy = (part: string) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // A server on a full disk keeps the file to itself
        yield* sql`PRAGMA busy_timeout = 5000`
        const migration = yield* versionOf
        // SQLite writes into an empty file, which keeps its permissions
        yield* Effect.promise(() => fs.open(part, "wx", 0o600).then((file) => file.close()))
        yield* sql`VACUUM INTO ${part}`
        return migration
      }).pipe(Effect.mapError(failing("storage.filename", filename)))
    const [migration, bytes] = yield* Effect.mapError(
      completed(to, (part) => inFile(filename, copy(part))),
      failing("to", to)
    )
    return { migration, bytes }
  }).pipe(Effect.catchAllDefect((defect) => Effect.fail(failing("storage.filename", filename)(defect))))

/** Returns the rows that break an invariant. A server may use the database at the same time. Reads only. */
export const check = ({ filename }: Pick<BackupOptions, "filename">): Effect.Effect<ReadonlyArray<Violation>, StartError> =>
  read({ filename }, violationsIn)

/**
 * Runs an effect with the statements of a database that this version has migrated. A server may use the database at the same time. It cannot write. Fails with
 * `StartError` for a database of a newer version.
 */
export const read = <A>(
  { filename }: Pick<BackupOptions, "filename">,
  effect: Effect.Effect<A, unknown, Statements>
): Effect.Effect<A, StartError> =>
  Effect.zipRight(versionOf, effect).pipe(
    Effect.provide(
      Layer.provide(
        Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements)),
        Layer.orDie(SqliteClient.layer({ filename, readonly: true, disableWAL: true }))
      )
    ),
    Effect.mapError(failing("storage.filename", filename)),
    Effect.catchAllDefect((defect) => Effect.fail(failing("storage.filename", filename)(defect)))
  )

/** Fails unless a file is a whole database that this version reads. Answers its version. */
const checked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [state] = yield* sql<{ readonly integrity_check: string }>`PRAGMA integrity_check(1)`
  if (state?.integrity_check !== "ok") return yield* Effect.fail(`is damaged: ${state?.integrity_check}`)
  return yield* versionOf
})

/**
 * Makes a database of a backup. Fails with `StartError` while a server uses the database, for one that is there unless `replace` is given, and for a backup that is damaged or of
 * a newer version; the database is then as before. The next server brings the data up to date.
 */
export const restore = ({ filename, from, replace = false }: RestoreOptions): Effect.Effect<Version, StartError> =>
  Effect.gen(function* () {
    if (!(yield* exists(from))) return yield* new StartError({ option: "from", value: from, reason: "there is no such file" })
    // A link stays, and what it leads to is replaced
    const path = yield* Effect.promise(() => fs.realpath(filename).catch(() => filename))
    const isThere = yield* exists(path)
    if (isThere && !replace)
      return yield* new StartError({
        option: "storage.filename",
        value: filename,
        reason: "the file exists: move it away, or name another one"
      })
    const copy = (part: string) =>
      Effect.gen(function* () {
        yield* Effect.tryPromise(() => fs.copyFile(from, part, constants.COPYFILE_FICLONE))
        yield* Effect.promise(() => fs.chmod(part, 0o600))
        const migration = yield* inFile(part, checked)
        // The log of the former database would be read as that of the new one. Its content goes to that database first, which may be damaged
        if (isThere)
          yield* Effect.ignore(
            Effect.sandbox(
              inFile(
                path,
                Effect.flatMap(SqlClient.SqlClient, (sql) => sql`PRAGMA wal_checkpoint(TRUNCATE)`)
              )
            )
          )
        for (const name of [`${part}-wal`, `${part}-shm`, `${path}-wal`, `${path}-shm`])
          yield* Effect.promise(() => fs.rm(name, { force: true }))
        return migration
      }).pipe(Effect.catchAllDefect(Effect.fail), Effect.mapError(failing("from", from)))
    yield* owned(path)
    const [migration] = yield* completed(path, copy).pipe(
      Effect.mapError(failing("storage.filename", filename)),
      // The owner makes the file
      Effect.onError(() => (isThere ? Effect.void : Effect.promise(() => fs.rm(path, { force: true }))))
    )
    return { migration }
  }).pipe(Effect.scoped)
