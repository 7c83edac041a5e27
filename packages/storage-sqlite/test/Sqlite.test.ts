import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const aFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "atelier-sqlite-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
)

const modesIn = (folder: string) =>
  Effect.promise(async () => {
    const names = (await fs.readdir(folder)).toSorted()
    return Promise.all(names.map(async (name) => [name, ((await fs.stat(join(folder, name))).mode & 0o777).toString(8)] as const))
  })

describe("a database", () => {
  it.scopedLive("is readable by its owner alone, with all that belongs to it", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const context = yield* Layer.build(Sqlite.layer({ filename: join(folder, "a.db") }))
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE secrets (secret TEXT)`).pipe(Effect.provide(context))
      expect(yield* modesIn(folder)).toEqual([
        ["a.db", "600"],
        ["a.db-lock", "600"],
        ["a.db-shm", "600"],
        ["a.db-wal", "600"]
      ])
    })
  )

  it.scopedLive("that is there keeps the permissions it was given", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      yield* Effect.promise(() => fs.writeFile(join(folder, "a.db"), "").then(() => fs.chmod(join(folder, "a.db"), 0o640)))
      yield* Layer.build(Sqlite.layer({ filename: join(folder, "a.db") }))
      expect((yield* modesIn(folder))[0]).toEqual(["a.db", "640"])
    })
  )
})
