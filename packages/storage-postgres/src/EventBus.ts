import { SqlClient } from "@effect/sql"
import { EventBus, Events } from "@atelier/core/platform"
import { sharedWrite } from "@atelier/storage"
import { Deferred, Effect, Layer, Redacted, Schedule } from "effect"
import pg from "pg"
import { closing } from "./Closing.js"
import { lost, makeEventSender } from "./EventSender.js"
import type { ServedBy } from "./Pool.js"

/** All channels share one of PostgreSQL's, so that a process listens with one connection, whatever its subscribers want. */
const postgresChannel = "atelier_events"

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const maximumPayload = 7_999

/** Milliseconds that the server may take to answer, and after which a silent connection is asked for a sign of life. */
const timeout = 10_000

/**
 * Events among all processes of one database, by LISTEN and NOTIFY. Listeners of the process that publishes are called at once, without the way
 * through the database. The process then drops the notifications of the server processes that it is served by. The payload has no
 * mark of its sender, so processes of different versions understand each other.
 *
 * A publisher does not wait until other processes are told (`EventSender`). While the listening connection is down, events of other processes
 * are lost. Every subscriber is told so when the connection is back, or when a process that publishes could not send its events.
 */
export const layer = (url: Redacted.Redacted<string>, servedBy: ServedBy) =>
  Layer.scoped(
    EventBus,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const router = yield* Events.makeRouter
      const ready = yield* Deferred.make<void, Error>()

      const listen = Effect.acquireUseRelease(
        Effect.sync(
          () =>
            new pg.Client({
              connectionString: Redacted.value(url),
              keepAlive: true,
              keepAliveInitialDelayMillis: timeout,
              connectionTimeoutMillis: timeout,
              query_timeout: timeout,
              application_name: "atelier events"
            })
        ),
        (client) =>
          Effect.async<never, Error>((resume) => {
            const fail = (error: Error): void => resume(Effect.fail(error))
            client.on("error", fail)
            client.on("end", () => fail(new Error("The connection that listens for events ended")))
            client.on("notification", ({ payload = "", processId }) => {
              if (servedBy(processId)) return
              if (payload === lost) return router.lost()
              const separator = payload.indexOf("\n")
              router.deliver(payload.slice(0, separator), payload.slice(separator + 1))
            })
            client
              .connect()
              .then(() => client.query(`LISTEN ${postgresChannel}`))
              .then(() => {
                // Events sent before this moment did not arrive
                router.lost()
                Deferred.unsafeDone(ready, Effect.void)
              }, fail)
          }),
        (client) => closing(() => client.end())
      )

      yield* listen.pipe(
        // Without the first connection the start fails; one that is lost later is replaced
        Effect.tapError((error) =>
          Effect.unlessEffect(Effect.logWarning("not receiving events, connecting again", error.message), Deferred.fail(ready, error))
        ),
        Effect.retry(Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("5 seconds"))),
        Effect.forkScoped
      )
      yield* Deferred.await(ready)

      const send = yield* makeEventSender((payloads) =>
        Effect.asVoid(
          sharedWrite(
            sql`SELECT pg_notify(${sql.literal(`'${postgresChannel}'`)}, value)
              FROM json_array_elements_text(CAST(${JSON.stringify(payloads)} AS json)) AS item (value)`
          )
        )
      )

      return EventBus.of({
        isShared: true,
        publish: (channel, message) =>
          Effect.gen(function* () {
            const payload = `${channel}\n${message}`
            if (Buffer.byteLength(payload) > maximumPayload) return yield* Effect.dieMessage(`An event on ${channel} is too long`)
            // The others of its statement would be lost with it
            if (payload.includes("\0") || !payload.isWellFormed())
              return yield* Effect.dieMessage(`An event on ${channel} is no text of PostgreSQL`)
            router.deliver(channel, message)
            send(payload)
          }),
        listen: router.listen
      })
    })
  )
