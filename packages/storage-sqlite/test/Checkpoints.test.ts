/** Copies of the write-ahead log into the database. */
import { Background } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Sqlite } from "@atelier/storage-sqlite"
import { Context, Effect, Exit, Layer, Logger, Schedule, Scope } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const aFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "atelier-sqlite-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
)

const sizeOf = (file: string) => Effect.promise(() => fs.stat(file).then(({ size }) => size))

const often = Schedule.spaced("20 millis")

it.scopedLive("a long log is copied by a thread until the database is closed", () =>
  Effect.gen(function* () {
    const file = join(yield* aFolder, "a.db")
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Sqlite.layer({ filename: file }), scope)
    const sql = Context.get(context, SqlClient.SqlClient)
    const write = (megabytes: number) =>
      sql`INSERT INTO contents SELECT randomblob(1024) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${megabytes * 1024})
        SELECT i FROM n)`
    yield* sql`CREATE TABLE contents (content BLOB)`
    yield* write(6)
    yield* Effect.repeat(sql`PRAGMA wal_autocheckpoint`, {
      until: ([setting]) => setting?.["wal_autocheckpoint"] === 8192,
      schedule: often
    })
    const version = yield* sql`PRAGMA data_version`
    const before = yield* sizeOf(file)
    yield* write(6)
    // Eight times less than SQLite would copy by itself
    yield* Effect.repeat(sizeOf(file), { until: (size) => size >= before + 6 * 2 ** 20, schedule: often })
    // A copy is no change: sessions that are kept in memory stay
    expect(yield* sql`PRAGMA data_version`).toStrictEqual(version)
    yield* write(1)
    yield* Scope.close(scope, Exit.void)
    expect(yield* Effect.promise(() => fs.readdir(join(file, "..")))).toStrictEqual(["a.db", "a.db-lock"])
  })
)

it.scopedLive("a thread that has failed is started again", () =>
  Effect.gen(function* () {
    const file = join(yield* aFolder, "a.db")
    const sql = Context.get(yield* Layer.build(Sqlite.layer({ filename: file })), SqlClient.SqlClient)
    const failed = () =>
      Effect.map(Background.health, (works) => works.find(({ name }) => name === "sqlite_checkpoints")?.failed_items ?? 0)
    const before = yield* failed()
    yield* Effect.promise(() => fs.rename(file, `${file}-away`))
    yield* sql`CREATE TABLE contents (content BLOB)`
    yield* sql`INSERT INTO contents VALUES (zeroblob(${6 * 2 ** 20}))`
    yield* Effect.repeat(failed(), { until: (count) => count > before, schedule: often })
    yield* Effect.promise(() => fs.rename(`${file}-away`, file))
    yield* Effect.repeat(sql`PRAGMA wal_autocheckpoint`, {
      until: ([setting]) => setting?.["wal_autocheckpoint"] === 8192,
      schedule: often
    })
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

it.scopedLive("a long log is copied after the process has changed its directory", () =>
  Effect.gen(function* () {
    const folder = yield* aFolder
    const before = process.cwd()
    yield* Effect.acquireRelease(
      Effect.sync(() => process.chdir(folder)),
      () => Effect.sync(() => process.chdir(before))
    )
    const sql = Context.get(yield* Layer.build(Sqlite.layer({ filename: "a.db" })), SqlClient.SqlClient)
    process.chdir(before)
    yield* sql`CREATE TABLE contents (content BLOB)`
    yield* sql`INSERT INTO contents VALUES (zeroblob(${6 * 2 ** 20}))`
    yield* Effect.repeat(sql`PRAGMA wal_autocheckpoint`, {
      until: ([setting]) => setting?.["wal_autocheckpoint"] === 8192,
      schedule: often
    })
  })
)
