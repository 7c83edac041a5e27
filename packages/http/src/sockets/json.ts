/** One-way streams of JSON documents to a client. agents-and-apps.md §0. */
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, ParseResult, Schema, Stream } from "effect"
import { schemaIn, Wire } from "../dialect.js"
import { InternalError, isRefusal, responseOf } from "../errors.js"
import { Draining } from "../server/Draining.js"
import { stringify } from "../server/json.js"
import { CloseSocket, type Options, WebSockets } from "./WebSockets.js"

type Request = HttpServerRequest.HttpServerRequest

/** Encodes values as lines, in the dialect in force. */
const encoder = <A, I>(schema: Schema.Schema<A, I>) =>
  Effect.map(Wire, (wire) => {
    const encode = ParseResult.encodeSync(schemaIn(wire, schema))
    return (value: A): string => stringify(encode(value)).trimEnd()
  })

/** Sends each value as a text message while it drops what the client sends. */
export const jsonSocket = <A, I, E, R>(request: Request, schema: Schema.Schema<A, I>, values: Stream.Stream<A, E, R>, options?: Options) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(schema)
    return yield* serve(
      request,
      ({ messages, send }) =>
        Effect.raceFirst(
          Stream.runForEach(values, (value) => send(encode(value))),
          Stream.runDrain(messages)
        ),
      options
    )
  })

/**
 * The WebSocket form of `sse`: `{"type":"data","data":…}` per value, and one `error` when the stream fails. A client that sends anything
 * is closed with 1002.
 */
export const eventSocket = <A, I, E, R>(request: Request, schema: Schema.Schema<A, I>, values: Stream.Stream<A, E, R>, options?: Options) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(schema)
    return yield* serve(
      request,
      ({ messages, send }) => {
        const events = Stream.runForEach(values, (value) => send(`{"type":"data","data":${encode(value)}}`)).pipe(
          Effect.catchAll((error) => send(stringify({ type: "error", data: described(error) }).trimEnd()))
        )
        const intrusion = Effect.zipRight(
          Stream.runHead(messages),
          new CloseSocket({ code: 1002, reason: "The client may not send messages here." })
        )
        return Effect.raceFirst(events, intrusion)
      },
      options
    )
  })

const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-accel-buffering": "no"
}

/** How often a client is told that the stream lives. */
const pingEvery = "15 seconds"

/**
 * Answers with server-sent events: `data` per value, one `error` when the stream fails, and a `ping` every 15 seconds. The frames are
 * exactly those that the reference's readers parse. wire.md W13.
 */
export const sse = <A, I, E, R>(schema: Schema.Schema<A, I>, values: Stream.Stream<A, E, R>) =>
  Effect.gen(function* () {
    const encode = yield* encoder(schema)
    const { begun } = yield* Draining
    const services = yield* Effect.context<R>()
    const events = values.pipe(
      Stream.map((value) => `event: data\ndata: ${encode(value)}\n\n`),
      Stream.catchAll((error) => Stream.make(`event: error\ndata: ${stringify(described(error)).trimEnd()}\n\n`)),
      Stream.provideContext(services)
    )
    const pings = Stream.drop(Stream.tick(pingEvery), 1).pipe(Stream.as("event: ping\n\n"))
    const frames = Stream.merge(events, pings, { haltStrategy: "left" }).pipe(Stream.interruptWhen(begun), Stream.encodeText)
    return HttpServerResponse.stream(frames, { contentType: "text/event-stream", headers: eventHeaders })
  })

const described = (error: unknown) =>
  isRefusal(error) && error._tag !== "NotModified"
    ? responseOf(error)
    : responseOf(new InternalError({ message: "An internal error occurred." }))
