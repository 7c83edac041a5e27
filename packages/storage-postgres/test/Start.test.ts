import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshDatabaseUrl } from "../../../test/databases.js"

describe("an empty database", () => {
  it.scopedLive("is set up once by processes that start on it together", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const start = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const started = yield* Effect.all([start, start, start, start, start, start], { concurrency: "unbounded" })
      for (const process of started) {
        const sql = Context.get(process, SqlClient.SqlClient)
        expect(yield* sql`SELECT count(*) AS users FROM users`).toStrictEqual([{ users: 0 }])
      }
    })
  )
})
