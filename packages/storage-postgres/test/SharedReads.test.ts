import { Statements, withItem } from "@atelier/storage"
import { Postgres } from "@atelier/storage-postgres"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Context, Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { makeReads } from "../src/Pool.js"
import { makeSharedReads } from "../src/SharedReads.js"
import { aWayTo } from "../../../test/outside/ways.js"

const connected = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  const sql = Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 2 })), Statements)
  const read = (value: string) =>
    sql.run<{ pid: number; value: number }>("SELECT pg_backend_pid() AS pid, CAST($1 AS integer) AS value", [value], { shared: "read" })
  return { sql, read }
})

/** Reads on a connection, and its process, while another connection holds the table `held`. */
const besideHeldTable = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  const { read } = yield* makeReads(Redacted.make(url), { connectionTimeout: 2_000 })
  const pid = read("SELECT pg_backend_pid() AS pid, CAST($1 AS text)", [""])
  const before = yield* pid
  yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query("CREATE TABLE held (a text)")
      await client.query("BEGIN; LOCK TABLE held")
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
  return { before, pid, read }
})

describe("short reads", () => {
  it.scopedLive("of many callers share one connection, and each has its own answer", () =>
    Effect.gen(function* () {
      const { read } = yield* connected
      const values = Arr.range(1, 100)
      const answers = yield* Effect.forEach(values, (value) => read(String(value)), { concurrency: "unbounded" })
      expect(answers.map(([row]) => row?.value)).toStrictEqual(values)
      expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(1)
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("that are refused leave those around them as they were", () =>
    Effect.gen(function* () {
      const { read } = yield* connected
      const [before, refused, after] = yield* Effect.all([read("1"), Effect.flip(read("none")), read("2")], { concurrency: "unbounded" })
      expect(refused).toMatchObject({ cause: { code: "22P02" } })
      expect([before[0]?.value, after[0]?.value]).toStrictEqual([1, 2])
      expect((yield* read("3"))[0]?.pid).toBe(before[0]?.pid)
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("with items share statements, and each has its own rows", () =>
    Effect.gen(function* () {
      const { sql } = yield* connected
      const text = `SELECT position, value, count(*) OVER () AS items
        FROM json_array_elements_text(CAST($1 AS json)) WITH ORDINALITY AS item (value, position), generate_series(1, CAST(value AS integer))`
      const valuesOf = (rows: ReadonlyArray<object>) => rows.map((row) => [Reflect.get(row, "value"), Reflect.get(row, "items")])
      const counted = Arr.range(1, 40)
      const answers = yield* Effect.forEach(counted, (count) => withItem(sql, "read", text, String(count)), { concurrency: "unbounded" })
      // The sums of the first 32 items and of the others
      expect(answers.map(valuesOf)).toStrictEqual(counted.map((count) => Arr.replicate([String(count), count <= 32 ? 528 : 292], count)))
      const same = yield* Effect.forEach(["2", "1", "2"], (item) => withItem(sql, "read", text, item), { concurrency: "unbounded" })
      expect(same.map(valuesOf)).toStrictEqual([Arr.replicate(["2", 3], 2), [["1", 3]], Arr.replicate(["2", 3], 2)])
      const [before, refused, after] = yield* Effect.all(
        [withItem(sql, "read", text, "1"), Effect.flip(withItem(sql, "read", text, "none")), withItem(sql, "read", text, "2")],
        { concurrency: "unbounded" }
      )
      expect(refused).toMatchObject({ cause: { code: "22P02" } })
      expect([before.length, after.length]).toStrictEqual([1, 2])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("have another connection after theirs is lost", () =>
    Effect.gen(function* () {
      const { read, sql } = yield* connected
      const [before] = yield* read("1")
      const lost = yield* Effect.flip(sql.run("SELECT pg_terminate_backend(pg_backend_pid()), CAST($1 AS text)", [""], { shared: "read" }))
      expect(lost).toMatchObject({ cause: { code: "57P01" } })
      const [after] = yield* read("2")
      expect(after?.value).toBe(2)
      expect(after?.pid).not.toBe(before?.pid)
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("whose connection has gone silent fail in time, and the next one has another connection", () =>
    Effect.gen(function* () {
      const { block, unblock, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
      const { read } = yield* makeReads(Redacted.make(url), { connectionTimeout: 2_000 })
      const pid = read("SELECT pg_backend_pid() AS pid, CAST($1 AS text)", [""])
      const [before] = yield* pid
      block()
      const lost = yield* Effect.replicateEffect(Effect.flip(pid), 3, { concurrency: "unbounded" })
      expect(lost.map(({ cause }) => String(cause))).toStrictEqual(
        lost.map(() => expect.stringMatching(/^Error: (Query read timeout|Connection terminated)$/))
      )
      unblock()
      const [after] = yield* pid
      expect(after).not.toStrictEqual(before)
    })
  )

  it.scopedLive("that wait for a lock are ended by the server, and keep their connection", () =>
    Effect.gen(function* () {
      const { before, pid, read } = yield* besideHeldTable
      const failed = yield* Effect.flip(read("SELECT a FROM held WHERE a = $1", [""]))
      expect(failed).toMatchObject({ cause: { code: "57014" } })
      expect(yield* pid).toStrictEqual(before)
    })
  )

  it.scopedLive("that share a statement which waits for a lock are ended with it, and not sent again", () =>
    Effect.gen(function* () {
      const { before, pid, read } = yield* besideHeldTable
      const text = `SELECT position FROM held, json_array_elements_text(CAST($1 AS json)) WITH ORDINALITY AS item (value, position)`
      const failed = yield* Effect.forEach(["1", "2", "3"], (item) => Effect.flip(read(text, [`[${item}]`], item)), {
        concurrency: "unbounded"
      })
      expect(failed).toMatchObject([{ cause: { code: "57014" } }, { cause: { code: "57014" } }, { cause: { code: "57014" } }])
      expect(yield* pid).toStrictEqual(before)
    })
  )

  it.scopedLive("that wait for a connection while the store is closed fail, and give the connection back", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const pool = new pg.Pool({ connectionString: url, max: 1, pipeline: true })
      const { close, read } = makeSharedReads(pool)
      pool.once("connect", close)
      const failed = yield* Effect.flip(read("SELECT CAST($1 AS text)", [""]))
      expect(failed).toMatchObject({ cause: { message: "Connection terminated" } })
      yield* Effect.promise(() => pool.end())
    })
  )

  it.scopedLive("in a transaction see what it has written", () =>
    Effect.gen(function* () {
      const { sql } = yield* connected
      yield* sql`CREATE TABLE notes (note text)`
      const notes = sql.run("SELECT note FROM notes WHERE note = $1", ["new"], { shared: "read" })
      expect(yield* sql.transaction(Effect.zipRight(sql`INSERT INTO notes VALUES ('new')`, notes))).toStrictEqual([{ note: "new" }])
    }).pipe(Effect.withTracerEnabled(false))
  )
})
