import { EventBus, type Events } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Context, Effect, Exit, Layer, Logger, Queue, Redacted, Schedule } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { layer as events } from "../src/EventBus.js"
import { aWayTo } from "../../../test/outside/ways.js"

/** Two processes on one database. */
const twoProcesses = Effect.gen(function* () {
  const url = yield* freshDatabaseUrl
  const process_ = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
  const first = yield* process_
  const second = yield* process_
  return { url, first: Context.get(first, EventBus), second: Context.get(second, EventBus), sql: Context.get(second, SqlClient.SqlClient) }
})

const heardOn = (bus: EventBus["Type"], channel: string) =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<Events.Delivery<string>>()
    yield* bus.listen(channel, (delivery) => void heard.unsafeOffer(delivery))
    return heard
  })

/** The log of a host that fails. */
const brokenLog = Logger.replace(
  Logger.defaultLogger,
  Logger.make(() => {
    throw new Error("no log")
  })
)

describe("events", () => {
  it.scopedLive("reach the listeners of their channel in every process, as long as a message may be", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoProcesses
      const here = yield* heardOn(first, "a\u00e9")
      const there = yield* heardOn(second, "a\u00e9")
      // Two bytes each
      const message = `line 1\nline 2${"\u00e9".repeat(3_743)}`
      yield* first.publish("b", "elsewhere")
      yield* first.publish("a\u00e9", message)
      expect([yield* here.take, yield* there.take]).toStrictEqual([
        { _tag: "Event", event: message },
        { _tag: "Event", event: message }
      ])
    })
  )

  it.scopedLive("are heard once by the process that publishes them, also while its connection is down", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* twoProcesses
      const here = yield* heardOn(first, "a")
      const there = yield* heardOn(second, "a")
      yield* first.publish("a", "one")
      expect(yield* here.takeAll).toHaveLength(1)
      // Behind the first one in both processes
      yield* second.publish("a", "two")
      yield* here.take
      expect([yield* here.size, (yield* there.take)._tag, (yield* there.take)._tag]).toStrictEqual([0, "Event", "Event"])
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'atelier events' AND datname = current_database()`
      yield* first.publish("a", "three")
      expect([...(yield* here.takeAll)]).toContainEqual({ _tag: "Event", event: "three" })
    }).pipe(Effect.withTracerEnabled(false))
  )

  it.scopedLive("are told to the other processes in their order, the last ones before the process ends", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const process_ = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const there = yield* heardOn(Context.get(yield* process_, EventBus), "a")
      const events = Arr.makeBy(900, String)
      yield* Effect.scoped(
        Effect.flatMap(process_, (first) => Effect.forEach(events, (event) => Context.get(first, EventBus).publish("a", event)))
      )
      const heard = yield* Queue.takeN(there, events.length)
      expect([...heard]).toStrictEqual(events.map((event) => ({ _tag: "Event", event })))
    })
  )

  it.scopedLive("that PostgreSQL could not tell are defects of those that publish them", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoProcesses
      const there = yield* heardOn(second, "a")
      for (const message of ["x".repeat(8_000), "\0", "\ud800"]) {
        expect(Exit.isFailure(yield* Effect.exit(first.publish("a", message)))).toBe(true)
      }
      yield* first.publish("a", "heard")
      expect(yield* there.take).toStrictEqual({ _tag: "Event", event: "heard" })
    })
  )

  it.scopedLive("are written as those of earlier versions, which may run beside this one during an upgrade", () =>
    Effect.gen(function* () {
      const { first, url } = yield* twoProcesses
      const earlier = yield* Effect.acquireRelease(
        Effect.promise(() => new pg.Client({ connectionString: url }).connect()),
        (client) => Effect.promise(() => client.end())
      )
      const payloads = yield* Queue.unbounded<string | undefined>()
      earlier.on("notification", ({ payload }) => void payloads.unsafeOffer(payload))
      yield* Effect.promise(() => earlier.query("LISTEN atelier_events"))
      const here = yield* heardOn(first, "a")
      yield* Effect.promise(() => earlier.query("SELECT pg_notify('atelier_events', $1)", ["a\nline 1\nline 2"]))
      expect([yield* here.take, yield* payloads.take]).toStrictEqual([{ _tag: "Event", event: "line 1\nline 2" }, "a\nline 1\nline 2"])
      yield* first.publish("a", "line 3\nline 4")
      expect([yield* here.take, yield* payloads.take]).toStrictEqual([{ _tag: "Event", event: "line 3\nline 4" }, "a\nline 3\nline 4"])
    })
  )

  it.scopedLive("may have been missed while the connection was down, which listeners are told when it is back", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* twoProcesses
      const heard = yield* heardOn(first, "a")
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'atelier events' AND datname = current_database()`
      expect(yield* heard.take).toStrictEqual({ _tag: "Lost" })
      yield* second.publish("a", "heard")
      expect(yield* heard.take).toStrictEqual({ _tag: "Event", event: "heard" })
    }).pipe(Effect.provide(brokenLog))
  )

  it.scopedLive("are heard again after the connection that listens has gone silent without an end", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const way = yield* aWayTo(url)
      const publisher = yield* Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const listener = yield* Layer.build(
        events(Redacted.make(way.url), () => false, { every: "20 millis", within: "500 millis" }).pipe(
          Layer.provide(Layer.succeedContext(publisher))
        )
      )
      const heard = yield* heardOn(Context.get(listener, EventBus), "a")
      way.silence()
      expect(yield* heard.take).toStrictEqual({ _tag: "Lost" })
      // A busy machine may be silent for as long once more
      yield* Effect.fork(Effect.repeat(Context.get(publisher, EventBus).publish("a", "heard"), Schedule.spaced("50 millis")))
      const next = yield* Effect.repeat(heard.take, { until: ({ _tag }) => _tag === "Event" })
      expect(next).toStrictEqual({ _tag: "Event", event: "heard" })
    })
  )
})
