/** Events that go on for as long as a client listens, over a WebSocket or as server-sent events. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Entitled, RightEnded } from "@atelier/core/access"
import { Effect, Exit, Mailbox, type Schema, Stream } from "effect"
import { InternalError, isRefusal, responseOf } from "../errors.js"
import { Draining } from "../server/Draining.js"
import { stringify } from "../server/json.js"
import { encoder } from "./json.js"
import { openStream } from "./openStream.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** An event of a stream: a value, a failure after which it may go on, or a sign of life. */
export type ServerEvent<A> =
  | { readonly type: "data"; readonly data: A }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "ping" }

/** Each value as an event, and a failure as the last one. */
export const eventsOf = <A, E, R>({ right, values }: Entitled<A, E, R>): Entitled<ServerEvent<A>, never, R> => ({
  right,
  values: values.pipe(
    Stream.map((data): ServerEvent<A> => ({ type: "data", data })),
    Stream.catchAll((error) => Stream.make<[ServerEvent<A>]>({ type: "error", error }))
  )
})

const oneWay = { code: 1002, reason: "Clients cannot send messages for one-way WebSockets" } as const

/** Sends `{"type":…,"data":…}` and a line feed per event, null as the data of a ping. A client that sends anything is closed with 1002. */
export const eventSocket = <A, I, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  { right, values }: Entitled<ServerEvent<A>, E, R>,
  options?: Options
) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(schema)
    const message = (event: ServerEvent<A>): string =>
      event.type === "data"
        ? `{"type":"data","data":${encode(event.data).trimEnd()}}\n`
        : stringify({ type: event.type, data: event.type === "error" ? described(event.error) : null })
    return yield* serve(request, right, ({ send }) => Stream.runForEach(values, (event) => send(message(event))), {
      ...options,
      oneWay
    })
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
 * Answers with server-sent events, and a `ping` every 15 seconds; the last one is an `error` when the right to the stream has ended. The frames are exactly those that the reference's readers parse.
 * wire.md W13.
 */
export const serverSentEvents = <A, I, R>(schema: Schema.Schema<A, I>, { right, values }: Entitled<ServerEvent<A>, never, R>) =>
  Effect.gen(function* () {
    const encode = yield* encoder(schema)
    const { onBegin } = yield* Draining
    const services = yield* Effect.context<R>()
    const frame = (event: ServerEvent<A>): Uint8Array => {
      if (event.type === "ping") return utf8.encode("event: ping\n\n")
      const data = event.type === "data" ? encode(event.data) : stringify(described(event.error))
      return utf8.encode(`event: ${event.type}\ndata: ${data}\n`)
    }
    // Pings, the service's end and the right's come in beside the events by a mailbox: merged streams would take ten times the memory
    const mailbox = yield* Mailbox.make<Uint8Array, RightEnded>(1)
    const excess = yield* openStream(right, (reason) => mailbox.unsafeDone(Exit.fail(reason)))
    if (excess !== undefined) return excess
    const frames = Stream.unwrapScoped(
      Effect.gen(function* () {
        yield* Stream.runForEach(values, (event) => mailbox.offer(frame(event))).pipe(
          // In place of the request's own, which would be copied
          Effect.mapInputContext<never, R>(() => services),
          Mailbox.into(mailbox),
          Effect.forkScoped
        )
        // A client that has not taken what was there before needs no sign of life
        const ping = Effect.sync(() => mailbox.unsafeOffer(frame({ type: "ping" })))
        yield* Effect.forkScoped(Effect.forever(Effect.delay(ping, pingEvery)))
        yield* Effect.acquireRelease(
          Effect.sync(() => onBegin(() => mailbox.unsafeDone(Exit.void))),
          (leave) => Effect.sync(leave)
        )
        return Mailbox.toStream(mailbox)
      })
    ).pipe(Stream.catchAll((error) => Stream.make(frame({ type: "error", error }))))
    return HttpServerResponse.stream(frames, { contentType: "text/event-stream", headers: eventHeaders })
  })

const described = (error: unknown) => (error instanceof RightEnded ? responseOf(error) : refusalOf(error))

const refusalOf = (error: unknown) =>
  isRefusal(error) && error._tag !== "NotModified"
    ? responseOf(error)
    : responseOf(new InternalError({ message: "An internal error occurred." }))
