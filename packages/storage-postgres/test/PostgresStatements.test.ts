import { Postgres } from "@atelier/storage-postgres"
import { Statements } from "@atelier/storage"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { freshDatabaseUrl } from "../../../test/store/databases.js"

describe.each([
  ["with spans", true],
  ["without spans", false]
])("a statement %s", (_, tracing) => {
  it.scopedLive("whose caller has gone does not take the next one on its connection with it", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const client = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const sql = Context.get(yield* client, Statements)
      const observer = Context.get(yield* client, Statements)
      const sleeping = Effect.map(
        observer`SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`,
        ({ length }) => length
      )

      // Two connections: the third statement waits for that of the first
      const gone = yield* Effect.fork(sql`SELECT pg_sleep(0.3)`)
      const other = yield* Effect.fork(sql`SELECT pg_sleep(0.5)`)
      yield* Effect.repeat(sleeping, { until: (count) => count === 2 })
      const next = yield* Effect.fork(sql`SELECT 'kept' AS next, pg_sleep(0.5)`)
      yield* Effect.yieldNow()
      yield* Fiber.interruptFork(gone)

      expect(yield* Fiber.join(next)).toMatchObject([{ next: "kept" }])
      yield* Fiber.join(other)
    }).pipe(Effect.withTracerEnabled(tracing))
  )
})

describe("a statement whose connection is lost", () => {
  it.scopedLive("fails alone", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const sql = Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 1 })), Statements)
      expect(yield* Effect.flip(sql`SELECT pg_terminate_backend(pg_backend_pid())`)).toMatchObject({ cause: { code: "57P01" } })
      expect(yield* sql`SELECT 1 AS kept`).toStrictEqual([{ kept: 1 }])
    }).pipe(Effect.withTracerEnabled(false))
  )
})
