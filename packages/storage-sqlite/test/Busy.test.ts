import { transaction } from "@atelier/core/platform"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const aFile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
).pipe(Effect.map((directory) => join(directory, "atelier.db")))

describe("a database file that something else writes to", () => {
  it.scopedLive("has transactions run again whose reads are out of date", () =>
    Effect.gen(function* () {
      const filename = yield* aFile
      const ours = yield* Layer.build(Sqlite.layer({ filename }))
      const others = Context.get(yield* Layer.build(SqliteClient.layer({ filename })), SqlClient.SqlClient)
      const sql = Context.get(ours, SqlClient.SqlClient)
      // Outside of our transaction
      const elsewhere = Effect.promise(() => Effect.runPromise(others`INSERT INTO deployment_values (key, value) VALUES ('theirs', '')`))
      const count = sql<{ count: number }>`SELECT count(*) AS count FROM deployment_values`
      const attempts: Array<ReadonlyArray<{ readonly count: number }>> = []
      yield* transaction(
        Effect.gen(function* () {
          attempts.push(yield* count)
          if (attempts.length === 1) yield* elsewhere
          yield* sql`INSERT INTO deployment_values (key, value) VALUES ('ours', '')`
        })
      ).pipe(Effect.provide(ours))
      expect(attempts).toStrictEqual([[{ count: 0 }], [{ count: 1 }]])
      expect(yield* count).toStrictEqual([{ count: 2 }])
    })
  )
})
