import { Background, EventBus, Events, reasonOf } from "@atelier/core/platform"
import { sharedWrite, Statements } from "@atelier/storage"
import { Cause, Deferred, Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { closingClient } from "./Closing.js"
import { lost, makeEventSender } from "./EventSender.js"
import { type Heartbeat, inRealTime, usualHeartbeat } from "./Heartbeat.js"
import type { ServedBy } from "./Pool.js"

/** All channels share one of PostgreSQL's, so that a process listens with one connection, whatever its subscribers want. */
const postgresChannel = "atelier_events"

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const maximumPayload = 7_999

/** Milliseconds that the server may take to answer. */
const timeout = 10_000

/** Milliseconds before the attempts to listen again. */
const pauses = [100, 200, 400, 800, 1_600, 3_200, 5_000]

/**
 * Events among all processes of one database, by LISTEN and NOTIFY. Listeners of the process that publishes are called at once, without the way
 * through the database. The process then drops the notifications of the server processes that it is served by. The payload has no
 * mark of its sender, so processes of different versions understand each other.
 *
 * A publisher does not wait until other processes are told (`EventSender`). While the listening connection is down, events of other processes
 * are lost. Every subscriber is told so when the connection is back, or when a process that publishes could not send its events. The connection notifies
 * itself from time to time: one that does not hear it in time is replaced.
 */
export const layer = (url: Redacted.Redacted<string>, servedBy: ServedBy, heartbeat: Heartbeat = usualHeartbeat) =>
  Layer.scoped(
    EventBus,
    Effect.gen(function* () {
      const sql = yield* Statements
      const router = yield* Events.makeRouter
      const ready = yield* Deferred.make<void, Error>()

      let failures = 0

      const open = Effect.sync(
        () =>
          new pg.Client({
            connectionString: Redacted.value(url),
            keepAlive: true,
            keepAliveInitialDelayMillis: timeout,
            connectionTimeoutMillis: timeout,
            query_timeout: timeout,
            application_name: "atelier events"
          })
      )

      /** Listens until the connection is lost. */
      const listenOn = (client: pg.Client) =>
        Effect.gen(function* () {
          const lostConnection = yield* Deferred.make<never, Error>()
          const fail = (error: Error): void => Deferred.unsafeDone(lostConnection, Effect.fail(error))
          client.on("error", fail)
          client.on("end", () => fail(new Error("The connection that listens for events ended")))
          let beat = (): void => {}
          client.on("notification", ({ channel, payload = "", processId }) => {
            if (channel !== postgresChannel) return beat()
            if (servedBy(processId)) return
            if (payload === lost) return router.lost()
            const separator = payload.indexOf("\n")
            router.deliver(payload.slice(0, separator), payload.slice(separator + 1))
          })
          const ask = (text: string) => Effect.tryPromise({ try: () => client.query(text), catch: asError })

          yield* Effect.tryPromise({ try: () => client.connect(), catch: asError })
          // The driver's types lack the id that the server gives at the start of a connection
          const own = `${postgresChannel}_${String(Reflect.get(client, "processID"))}`
          yield* ask(`LISTEN ${postgresChannel}; LISTEN ${own}`)
          // Events sent before this moment did not arrive
          router.lost()
          Deferred.unsafeDone(ready, Effect.void)

          const hearItself = Effect.async<void, Error>((resume) => {
            beat = () => resume(Effect.void)
            client.query(`NOTIFY ${own}`, (cause: Error | null) => {
              if (cause) resume(Effect.fail(cause))
            })
          }).pipe(
            Effect.timeoutFail({
              duration: heartbeat.within,
              onTimeout: () => new Error("The connection that listens for events went silent")
            }),
            // Subscribers read the store after each new connection: one that is lost at once again counts as a failed attempt
            Effect.tap(() => {
              failures = 0
            })
          )
          yield* Effect.raceFirst(Effect.forever(Effect.delay(hearItself, heartbeat.every)), Deferred.await(lostConnection))
        })

      const listen = Effect.acquireUseRelease(open, listenOn, closingClient)

      yield* listen.pipe(
        // Without the first connection the start fails; one that is lost later is replaced
        Effect.catchAllCause((cause) =>
          Effect.gen(function* () {
            if (yield* Deferred.failCause(ready, cause)) return yield* Effect.interrupt
            yield* Background.logged(Effect.logWarning("not receiving events, connecting again", reasonOf(Cause.squash(cause))))
            yield* Effect.sleep(pauses[Math.min(failures++, pauses.length - 1)] ?? 0)
          })
        ),
        Effect.forever,
        inRealTime,
        Effect.forkScoped
      )
      yield* Deferred.await(ready)

      const send = yield* makeEventSender((payloads) =>
        Effect.asVoid(
          sharedWrite(
            sql,
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
