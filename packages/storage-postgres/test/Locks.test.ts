import { Locks, storeUnavailable } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { layer as locks } from "../src/Locks.js"
import { aWayTo } from "../../../test/outside/ways.js"

/** Two processes on one database, each with fewer connections than it holds locks. */
const twoProcessesOn = (url: string) =>
  Effect.gen(function* () {
    const process_ = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
    const first = yield* process_
    const second = yield* process_
    return {
      first: Context.get(first, Locks),
      second: Context.get(second, Locks),
      sql: Context.get(second, SqlClient.SqlClient)
    }
  })

const twoProcesses = Effect.flatMap(freshDatabaseUrl, twoProcessesOn)

/** Takes a lock and keeps it until the answer is completed. */
const keep = (locks: Locks["Type"], name: string) =>
  Effect.gen(function* () {
    const taken = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const fiber = yield* Effect.fork(locks.tryWith(name, Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(release))))
    yield* Deferred.await(taken)
    return { fiber, release: Effect.zipRight(Deferred.succeed(release, undefined), Fiber.join(fiber)) }
  })

describe("locks", () => {
  it.scopedLive("let go of what must not be interrupted", () =>
    Effect.gen(function* () {
      const { first } = yield* twoProcesses
      expect(yield* Effect.uninterruptible(first.tryWith("renewal", Effect.succeed(1)))).toStrictEqual(Option.some(1))
      expect(yield* first.tryWith("renewal", Effect.succeed(2))).toStrictEqual(Option.some(2))
    })
  )

  it.scopedLive("are held by one of all processes, and are free again afterwards", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoProcesses
      const { release } = yield* keep(first, "reaper")
      expect(yield* second.tryWith("reaper", Effect.succeed(1))).toStrictEqual(Option.none())
      expect(yield* first.tryWith("reaper", Effect.succeed(1))).toStrictEqual(Option.none())
      expect(yield* second.tryWith("other", Effect.succeed(1))).toStrictEqual(Option.some(1))
      yield* release
      expect(yield* second.tryWith("reaper", Effect.succeed(2))).toStrictEqual(Option.some(2))
    })
  )

  it.scopedLive("take no connection from those who work under them", () =>
    Effect.gen(function* () {
      const { second, sql } = yield* twoProcesses
      const kept = yield* Effect.forEach(["a", "b", "c", "d"], (name) => keep(second, name))
      expect(yield* sql`SELECT 1 AS one`).toStrictEqual([{ one: 1 }])
      yield* Effect.forEach(kept, ({ release }) => release)
    })
  )

  it.scopedLive("are lost with their connection, which ends the work under them", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* twoProcesses
      const { fiber } = yield* keep(first, "reaper")
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'atelier locks' AND datname = current_database()`
      const exit = yield* Fiber.await(fiber)
      expect(Exit.isFailure(exit) && Option.isSome(storeUnavailable(exit.cause))).toBe(true)
      expect(yield* second.tryWith("reaper", Effect.succeed("taken"))).toStrictEqual(Option.some("taken"))
      expect(yield* first.tryWith("reaper", Effect.succeed("again"))).toStrictEqual(Option.some("again"))
    })
  )

  it.scopedLive("say that the store is away while it cannot be reached", () =>
    Effect.gen(function* () {
      const { tryWith } = Context.get(yield* Layer.build(locks(Redacted.make("postgres://127.0.0.1:1/none"))), Locks)
      const cause = yield* Effect.flip(Effect.sandbox(tryWith("reaper", Effect.void)))
      expect(storeUnavailable(cause)).toMatchObject(Option.some({ reason: "away" }))
    })
  )

  it.scopedLive("go with the connection when they cannot be given back", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const database = new URL(url).pathname.slice(1)
      yield* Effect.promise(async () => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        await client.query(`CREATE FUNCTION pg_advisory_unlock(bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`)
        await client.query(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`)
        await client.end()
      })
      const { first, second } = yield* twoProcessesOn(url)
      expect(yield* first.tryWith("reaper", Effect.succeed(1))).toStrictEqual(Option.some(1))
      // The server notices after the client
      const taken = Effect.repeat(second.tryWith("reaper", Effect.succeed(2)), { until: Option.isSome })
      expect(yield* taken).toStrictEqual(Option.some(2))
    })
  )

  it.scopedLive("are lost with a connection that goes silent, whose locks the server may have given away", () =>
    Effect.gen(function* () {
      const { silence, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
      const first = Context.get(yield* Layer.build(locks(Redacted.make(url), { every: "20 millis", within: "500 millis" })), Locks)
      const { fiber } = yield* keep(first, "reaper")
      silence()
      expect(Exit.isFailure(yield* Fiber.await(fiber))).toBe(true)
      // A busy machine may be silent for as long once more
      const again = Effect.retry(Effect.sandbox(first.tryWith("other", Effect.succeed("again"))), Schedule.spaced("50 millis"))
      expect(yield* again).toStrictEqual(Option.some("again"))
    })
  )
})
