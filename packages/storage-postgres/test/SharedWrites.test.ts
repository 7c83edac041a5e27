import { sharedWrite, Statements, withItem } from "@atelier/storage"
import { Postgres } from "@atelier/storage-postgres"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Context, Effect, Fiber, Layer, Redacted } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { makeWrites } from "../src/Pool.js"
import { aWayTo } from "../../../test/outside/ways.js"

/** Another client of the database, which holds locks until its transaction ends. */
const anotherClient = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => new pg.Client({ connectionString: url }).connect()),
    (client) => Effect.promise(() => client.end())
  )

const connected = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  const sql = Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 2 })), Statements)
  yield* sql`CREATE TABLE notes (note text PRIMARY KEY, times integer NOT NULL DEFAULT 0)`
  return {
    sql,
    url,
    write: (note: string) =>
      sharedWrite(
        sql,
        sql<{ note: string; xid: string; pid: number }>`INSERT INTO notes VALUES (${note})
          RETURNING note, CAST(pg_current_xact_id() AS text) AS xid, pg_backend_pid() AS pid`
      ),
    writeItem: (note: string) =>
      withItem(
        sql,
        "write",
        `INSERT INTO notes SELECT value FROM json_array_elements_text(CAST($1 AS json)) AS item (value)
        RETURNING CAST(substr(note, 1, 1) AS integer) AS position, note, CAST(pg_current_xact_id() AS text) AS xid, CAST(cmin AS text) AS command`,
        note
      ),
    change: (note: string) => sharedWrite(sql, sql`UPDATE notes SET times = times + 1 WHERE note = ${note} RETURNING times`),
    stored: Effect.map(sql<{ note: string }>`SELECT note FROM notes ORDER BY note`, (rows) => rows.map(({ note }) => note))
  }
})

/** The writes of a store, without the store. */
const direct = (url: string, connectionTimeout = 10_000) =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new pg.Pool({ connectionString: url, max: 2 })),
      (pool) => Effect.promise(() => pool.end())
    )
    yield* Effect.promise(() => pool.query("CREATE TABLE notes (note text)"))
    const { write } = yield* makeWrites(Redacted.make(url), { connectionTimeout }, pool)
    return {
      insert: (note: unknown) => write("INSERT INTO notes VALUES ($1)", [note]),
      insertSlowly: (note: unknown) => write("INSERT INTO notes SELECT $1 FROM pg_sleep(0.1)", [note]),
      stored: Effect.map(
        Effect.promise(() => pool.query<{ note: string }>("SELECT note FROM notes ORDER BY note")),
        ({ rows }) => rows.map(({ note }) => note)
      )
    }
  })

const atOnce = { concurrency: "unbounded" } as const

describe("short writes", () => {
  it.scopedLive("of many callers share transactions, and each has its own answer", () =>
    Effect.gen(function* () {
      const { stored, write } = yield* connected
      const notes = Arr.makeBy(100, (index) => `note ${String(index).padStart(2, "0")}`)
      const answers = (yield* Effect.forEach(notes, write, atOnce)).flat()
      expect(answers.map(({ note }) => note)).toStrictEqual(notes)
      expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1)
      // 32 of each transaction at most
      expect(new Set(answers.map(({ xid }) => xid)).size).toBe(4)
      expect(yield* stored).toStrictEqual(notes)
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("with items share a statement, and each has its own rows", () =>
    Effect.gen(function* () {
      const { stored, write, writeItem } = yield* connected
      const [[first], [other], [second]] = yield* Effect.all([writeItem("1 first"), write("other"), writeItem("2 second")], atOnce)
      expect(first).toMatchObject({ note: "1 first", xid: other?.xid })
      expect(second).toStrictEqual({ ...first, note: "2 second", position: 2 })
      expect(yield* stored).toStrictEqual(["1 first", "2 second", "other"])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("with items that are refused leave those around them as they were", () =>
    Effect.gen(function* () {
      const { stored, writeItem } = yield* connected
      yield* writeItem("1 taken")
      const [, refused] = yield* Effect.all([writeItem("1 before"), Effect.flip(writeItem("1 taken")), writeItem("1 after")], atOnce)
      expect(refused).toMatchObject({ cause: { code: "23505", constraint: "notes_pkey" } })
      expect(yield* stored).toStrictEqual(["1 after", "1 before", "1 taken"])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("that are refused leave those around them as they were", () =>
    Effect.gen(function* () {
      const { stored, write } = yield* connected
      yield* write("taken")
      const [, refused] = yield* Effect.all([write("before"), Effect.flip(write("taken")), write("after")], atOnce)
      expect(refused).toMatchObject({ cause: { code: "23505", constraint: "notes_pkey" } })
      expect(yield* stored).toStrictEqual(["after", "before", "taken"])
      expect(yield* Effect.flip(write("taken"))).toMatchObject({ cause: { code: "23505" } })
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("that are refused when they are committed leave those around them as they were", () =>
    Effect.gen(function* () {
      const { sql, stored, write } = yield* connected
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'too late' USING ERRCODE = 'program_limit_exceeded'; END $$`
      yield* sql`CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.note = 'refused') EXECUTE FUNCTION refuse()`
      const [, refused] = yield* Effect.all([write("before"), Effect.flip(write("refused")), write("after")], atOnce)
      expect(refused).toMatchObject({ cause: { code: "54000", message: "too late" } })
      expect(yield* stored).toStrictEqual(["after", "before"])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("whose values cannot be sent fail alone", () =>
    Effect.gen(function* () {
      const { insert, stored } = yield* direct(yield* freshDatabaseUrl)
      const unsendable = {
        toPostgres: () => {
          throw new Error("unsendable")
        }
      }
      const [, refused] = yield* Effect.all([insert("before"), Effect.flip(insert(unsendable)), insert("after")], atOnce)
      expect(refused).toMatchObject({ cause: { message: "unsendable" } })
      expect(yield* Effect.flip(insert(unsendable))).toMatchObject({ cause: { message: "unsendable" } })
      yield* insert("last")
      expect(yield* stored).toStrictEqual(["after", "before", "last"])
    })
  )

  it.scopedLive("whose connection has gone silent fail in time, and the next ones have another connection", () =>
    Effect.gen(function* () {
      const { block, unblock, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
      const { insert, stored } = yield* direct(url, 2_000)
      yield* insert("before")
      block()
      const lost = yield* Effect.all([Effect.flip(insert("lost")), Effect.flip(insert("lost too"))], atOnce)
      expect(lost.map(({ cause }) => String(cause))).toStrictEqual(
        lost.map(() => expect.stringMatching(/^Error: (Query read timeout|Connection terminated)/))
      )
      unblock()
      yield* insert("after")
      expect(yield* stored).toStrictEqual(["after", "before"])
    })
  )

  it.scopedLive("that have waited too long for others fail without being sent", () =>
    Effect.gen(function* () {
      const { insert, insertSlowly, stored } = yield* direct(yield* freshDatabaseUrl, 2_000)
      yield* insert("before")
      const causes = yield* Effect.forEach(
        Arr.range(1, 320),
        () => Effect.map(Effect.flip(insertSlowly("late")), ({ cause }) => String(cause)),
        atOnce
      )
      // The first 32 are sent, and given up. All others have waited for as long by then, or for as long as the next ones
      expect(causes.slice(64)).toStrictEqual(Arr.makeBy(256, () => "Error: timeout exceeded when trying to connect"))
      yield* insert("after")
      expect(yield* stored).toStrictEqual(["after", "before"])
    })
  )

  it.scopedLive("that wait for a lock keep no others waiting", () =>
    Effect.gen(function* () {
      const { change, stored, url, write } = yield* connected
      yield* write("locked")
      const holder = yield* anotherClient(url)
      yield* Effect.promise(() => holder.query("BEGIN; UPDATE notes SET times = 5 WHERE note = 'locked'"))
      const waiting = yield* Effect.fork(Effect.all([change("locked"), write("beside it")], atOnce))
      yield* Effect.repeat(stored, { until: (notes) => notes.includes("beside it") })
      const alone = yield* Effect.fork(change("locked"))
      // The other is sent during these, without company
      yield* stored
      yield* write("last")
      expect([waiting.unsafePoll(), alone.unsafePoll()]).toStrictEqual([null, null])
      yield* Effect.promise(() => holder.query("COMMIT"))
      const [first] = yield* Fiber.join(waiting)
      expect(new Set([...first, ...(yield* Fiber.join(alone))])).toStrictEqual(new Set([{ times: 6 }, { times: 7 }]))
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("that wait for each other's transactions in two processes are all stored", () =>
    Effect.gen(function* () {
      const { change, sql, url, write } = yield* connected
      const other = Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 2 })), Statements)
      yield* Effect.all([write("a"), write("b")])
      const changeThere = (note: string) =>
        sharedWrite(other, other`UPDATE notes SET times = times + 1 WHERE note = ${note} AND pg_sleep(0.02) IS NOT NULL RETURNING times`)
      yield* Effect.all([change("a"), change("b"), changeThere("b"), changeThere("a")], atOnce)
      expect(yield* sql`SELECT note, times FROM notes ORDER BY note`).toStrictEqual([
        { note: "a", times: 2 },
        { note: "b", times: 2 }
      ])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("whose connection is lost fail together, and the next ones have another connection", () =>
    Effect.gen(function* () {
      const { sql, stored, write } = yield* connected
      const [before] = yield* write("before")
      const end = sharedWrite(sql, sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      const lost = yield* Effect.all([Effect.flip(write("lost")), Effect.flip(end)], atOnce)
      expect(lost.map(({ _tag }) => _tag)).toStrictEqual(["SqlError", "SqlError"])
      const [after] = yield* write("after")
      expect(after?.pid).not.toBe(before?.pid)
      expect(yield* stored).toStrictEqual(["after", "before"])
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("in a transaction of their caller belong to it", () =>
    Effect.gen(function* () {
      const { sql, stored, write } = yield* connected
      yield* Effect.flip(sql.transaction(Effect.zipRight(write("undone"), Effect.fail("rolled back"))))
      expect(yield* stored).toStrictEqual([])
    }).pipe(Effect.withTracerEnabled(false))
  )
})
