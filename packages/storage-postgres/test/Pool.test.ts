import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { freshDatabaseUrl } from "../../../test/databases.js"
import { makePool } from "../src/Pool.js"
import { aWayTo } from "./ways.js"

it.scopedLive("a pool is not served by a connection that it gave up, even if its end is never answered", () =>
  Effect.gen(function* () {
    const { block, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
    const { pool, servedBy } = yield* makePool(Redacted.make(url), { max: 2, connectionTimeout: 10_000 })
    const client = yield* Effect.promise(() => pool.connect())
    const answer = yield* Effect.promise(() => client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))
    const pid = answer.rows[0]?.pid
    expect([servedBy(pid), servedBy(-1)]).toStrictEqual([true, false])
    block()
    client.release(true)
    expect(servedBy(pid)).toBe(false)
  })
)
