import { StartError } from "@atelier/core/platform"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const aFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "atelier-sqlite-"))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
)

const refusalOf = (filename: string) => Effect.flip(Layer.build(Sqlite.layer({ filename })))

const inUse = (filename: string) =>
  new StartError({
    option: "storage.filename",
    value: filename,
    reason: "another server uses it: stop it first, or use PostgreSQL, which takes several servers"
  }).message

describe("a database file", () => {
  it.scopedLive("in use by another server is refused without waiting", () =>
    Effect.gen(function* () {
      const filename = join(yield* aFolder, "a.db")
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Sqlite.layer({ filename }), scope)
      expect((yield* refusalOf(filename)).message).toBe(inUse(filename))
      // The refusal has left the first one its lock
      expect((yield* refusalOf(filename)).message).toBe(inUse(filename))
      yield* Scope.close(scope, Exit.void)
      yield* Layer.build(Sqlite.layer({ filename }))
    })
  )

  it.scopedLive("in use is refused by its other names too", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      yield* Layer.build(Sqlite.layer({ filename: join(folder, "a.db") }))
      yield* Effect.promise(() => fs.symlink("a.db", join(folder, "link.db")))
      expect((yield* refusalOf(join(folder, "link.db"))).message).toBe(inUse(join(folder, "link.db")))
    })
  )

  it.scopedLive.each(["before the first server starts", "afterwards"])("in use is refused by a hard link that was made %s", (time) =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const [name, link] = [join(folder, "a.db"), join(folder, "link.db")]
      yield* Effect.scoped(Layer.build(Sqlite.layer({ filename: name })))
      const makeLink = Effect.promise(() => fs.link(name, link))
      if (time !== "afterwards") yield* makeLink
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Sqlite.layer({ filename: name }), scope)
      if (time === "afterwards") yield* makeLink
      expect((yield* refusalOf(link)).message).toBe(inUse(link))
      yield* Scope.close(scope, Exit.void)
      yield* Layer.build(Sqlite.layer({ filename: link }))
    })
  )

  // The superuser may write to any file
  it.scopedLive.skipIf(process.getuid?.() === 0)("that is read-only is named", () =>
    Effect.gen(function* () {
      const filename = join(yield* aFolder, "a.db")
      yield* Effect.scoped(Layer.build(Sqlite.layer({ filename })))
      yield* Effect.promise(() => fs.chmod(filename, 0o400))
      const reason = "attempt to write a readonly database"
      expect(yield* refusalOf(filename)).toMatchObject({ _tag: "StartError", option: "storage.filename", value: filename, reason })
    })
  )

  it.scopedLive("that a newer version has migrated is refused", () =>
    Effect.gen(function* () {
      const filename = join(yield* aFolder, "a.db")
      yield* Effect.scoped(
        Effect.flatMap(
          Layer.build(Sqlite.layer({ filename })),
          (context) =>
            Context.get(context, SqlClient.SqlClient)`INSERT INTO atelier_migrations (migration_id, name) VALUES (9000, 'renamed_users')`
        )
      )
      expect(yield* refusalOf(filename)).toMatchObject({
        _tag: "StartError",
        option: "storage.filename",
        reason: expect.stringMatching(/^belongs to a newer version of Atelier, which applied the migration 9000_renamed_users; /)
      })
    })
  )

  it.scopedLive("that cannot be used is named, with SQLite's reason", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const text = join(folder, "text.db")
      yield* Effect.promise(() => fs.writeFile(text, "No database. ".repeat(20)))
      const reasons = [
        [join(folder, "no", "a.db"), "Cannot open database because the directory does not exist"],
        [folder, "unable to open database file"],
        [text, "file is not a database"]
      ] as const
      for (const [filename, reason] of reasons) {
        expect(yield* refusalOf(filename)).toMatchObject({ _tag: "StartError", option: "storage.filename", value: filename, reason })
      }
    })
  )
})
