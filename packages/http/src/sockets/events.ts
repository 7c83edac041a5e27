/** Events that go on for as long as a client listens, over a WebSocket or as server-sent events. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Mailbox, type Schema, Stream } from "effect"
import { InternalError, isRefusal, responseOf } from "../errors.js"
import { Draining } from "../server/Draining.js"
import { stringify } from "../server/json.js"
import { encoder } from "./json.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** What a stream of events says: a value, a failure after which it may go on, or only that it lives. */
export type ServerEvent<A> =
  | { readonly type: "data"; readonly data: A }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "ping" }

/** Each value as an event, and a failure as the last one. */
export const eventsOf = <A, E, R>(values: Stream.Stream<A, E, R>): Stream.Stream<ServerEvent<A>, never, R> =>
  values.pipe(
    Stream.map((data): ServerEvent<A> => ({ type: "data", data })),
    Stream.catchAll((error) => Stream.make<[ServerEvent<A>]>({ type: "error", error }))
  )

/** Sends `{"type":…,"data":…}` per event, null as the data of a ping. A client that sends anything is closed with 1002. */
export const eventSocket = <A, I, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  events: Stream.Stream<ServerEvent<A>, E, R>,
  options?: Options
) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(schema)
    const message = (event: ServerEvent<A>): string =>
      event.type === "data"
        ? `{"type":"data","data":${encode(event.data)}}`
        : stringify({ type: event.type, data: event.type === "error" ? described(event.error) : null }).trimEnd()
    return yield* serve(request, ({ send }) => Stream.runForEach(events, (event) => send(message(event))), { ...options, isOneWay: true })
  })

const utf8 = new TextEncoder()

const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-accel-buffering": "no"
}

/** How often a client is told that the stream lives. */
const pingEvery = "15 seconds"

/**
 * Answers with server-sent events, and a `ping` every 15 seconds. The frames are exactly those that the reference's readers parse.
 * wire.md W13.
 */
export const serverSentEvents = <A, I, R>(schema: Schema.Schema<A, I>, events: Stream.Stream<ServerEvent<A>, never, R>) =>
  Effect.gen(function* () {
    const encode = yield* encoder(schema)
    const { begun } = yield* Draining
    const services = yield* Effect.context<R>()
    const frame = (event: ServerEvent<A>): Uint8Array => {
      if (event.type === "ping") return utf8.encode("event: ping\n\n")
      const data = event.type === "data" ? encode(event.data) : stringify(described(event.error)).trimEnd()
      return utf8.encode(`event: ${event.type}\ndata: ${data}\n\n`)
    }
    // Pings and the service's end come in beside the events by a mailbox: merged streams would take ten times the memory
    const frames = Stream.unwrapScoped(
      Effect.gen(function* () {
        const mailbox = yield* Mailbox.make<Uint8Array>(1)
        yield* Stream.runForEach(events, (event) => mailbox.offer(frame(event))).pipe(
          Effect.provide(services),
          Mailbox.into(mailbox),
          Effect.forkScoped
        )
        // A client that has not taken what was there before needs no sign of life
        const ping = Effect.sync(() => mailbox.unsafeOffer(frame({ type: "ping" })))
        yield* Effect.forkScoped(Effect.forever(Effect.delay(ping, pingEvery)))
        yield* Effect.forkScoped(Effect.zipRight(begun, mailbox.end))
        return Mailbox.toStream(mailbox)
      })
    )
    return HttpServerResponse.stream(frames, { contentType: "text/event-stream", headers: eventHeaders })
  })

const described = (error: unknown) =>
  isRefusal(error) && error._tag !== "NotModified"
    ? responseOf(error)
    : responseOf(new InternalError({ message: "An internal error occurred." }))
