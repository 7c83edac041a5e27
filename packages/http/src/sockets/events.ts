/** Events that go on for as long as a client listens, over a WebSocket or as server-sent events. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Entitled, RightEnded } from "@atelier/core/access"
import { type Alarm, Feed } from "@atelier/core/platform"
import { Cause, Effect, Either, Exit, Runtime, type Schema, type Stream } from "effect"
import { eventMessage, type EventMessage } from "../contract/eventMessage.js"
import { InternalError, isRefusal, responseOf } from "../wire/errors.js"
import { Draining } from "../server/operate/Draining.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { stringify } from "../server/codec/json.js"
import { LiveBody, type Outlet } from "../server/connection/LiveBody.js"
import { encoder, jsonSocket } from "./json.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { beginStream, type BegunStream } from "./openStream.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** An event of a stream: a value, a failure after which it may go on, or a sign of life. */
export type ServerEvent<A> =
  | { readonly type: "data"; readonly data: A }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "ping" }

/** Each value as an event, and a failure as the last one. */
export const eventsOf = <A, E, R>({ right, values }: Entitled<A, E, R>): Entitled<ServerEvent<A>, never, R> => ({
  right,
  values: Feed.endWith(
    Feed.map(values, (data): ServerEvent<A> => ({ type: "data", data })),
    (cause) =>
      Either.match(Cause.failureOrCause(cause), {
        onLeft: (error) => Effect.succeed({ type: "error", error } as const),
        onRight: Effect.failCause
      })
  )
})

/** The text of each event. Made here, so that an open socket does not keep its request. */
const textOf =
  <A>(encode: (value: A) => string) =>
  (event: ServerEvent<A>): string =>
    event.type === "data"
      ? `{"type":"data","data":${encode(event.data).trimEnd()}}\n`
      : stringify({ type: event.type, data: event.type === "error" ? described(event.error) : null })

const oneWay = { code: 1002, reason: "Clients cannot send messages for one-way WebSockets" } as const

/** Sends `{"type":…,"data":…}` and a line feed per event, null as the data of a ping. A client that sends anything is closed with 1002. */
export const eventSocket = <A, I, E>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  { right, values }: Entitled<ServerEvent<A>, E>,
  options?: Options
) =>
  Effect.gen(function* () {
    const { tell } = yield* WebSockets
    return yield* tell(request, right, { values, messageOf: textOf(yield* encoder(schema)), oneWay }, options)
  })

const utf8 = new TextEncoder()

const eventHeaders = {
  "content-type": "text/event-stream",
  // A middleware or proxy that compresses keeps small events until it has a block of them, so a client would wait for ever: RFC 9111, section 5.2.2.6.
  "cache-control": "no-cache, no-transform",
  connection: "keep-alive",
  "x-accel-buffering": "no"
}

const pingFrame = utf8.encode("event: ping\n\n")

/** How often a client is told that the stream lives. */
const pingEvery = "15 seconds"

/** The frame of each event. Made here, so that an open stream does not keep its request. */
const frameOf =
  <A>(encode: (value: A) => string) =>
  (event: ServerEvent<A>): Uint8Array => {
    if (event.type === "ping") return pingFrame
    const data = event.type === "data" ? encode(event.data) : stringify(described(event.error))
    return utf8.encode(`event: ${event.type}\ndata: ${data}\n`)
  }

/** Logs why a stream broke off. */
const logging =
  (runtime: Runtime.Runtime<never>, { id, path }: { readonly id: string; readonly path: string }) =>
  (cause: Cause.Cause<unknown>): void => {
    const logged = Effect.logError("a response failed on its way", cause)
    if (!Cause.isInterruptedOnly(cause)) Runtime.runFork(runtime)(Effect.annotateLogs(logged, { request_id: id, path }))
  }

/**
 * Answers with server-sent events, and a `ping` every 15 seconds; the last one is an `error` when the right to the stream has ended. The frames are exactly those that the reference's readers parse.
 * wire.md W13.
 */
export const serverSentEvents = <A, I>(schema: Schema.Schema<A, I>, { right, values }: Entitled<ServerEvent<A>>) =>
  Effect.gen(function* () {
    const frame = frameOf(yield* encoder(schema))
    const { onBegin } = yield* Draining
    const { repeat } = yield* Heartbeat
    const runtime = yield* FeedRuntime
    const begun = yield* beginStream(right)
    if ("refusal" in begun) return begun.refusal
    const broken = logging(runtime, yield* CurrentRequest)
    const body = new LiveBody((outlet) => new LiveEvents(outlet, begun, frame, broken).begin(values, { onBegin, repeat, runtime }))
    return HttpServerResponse.raw(body, { contentType: "text/event-stream", headers: eventHeaders })
  })

/** What an open stream is kept up by. */
interface House extends Pick<Draining["Type"], "onBegin">, Pick<Heartbeat["Type"], "repeat"> {
  readonly runtime: Runtime.Runtime<never>
}

const nothing = (): void => undefined

/** Writes events until there are no more, the right or the service ends, or the client has gone. It is no closure: each open stream has one. */
class LiveEvents<A> {
  private isOver = false
  private stop = nothing
  private leave = nothing
  private pings: Alarm | undefined = undefined

  constructor(
    private readonly outlet: Outlet,
    private readonly begun: BegunStream,
    private readonly frame: (event: ServerEvent<A>) => Uint8Array,
    private readonly broken: (cause: Cause.Cause<unknown>) => void
  ) {}

  /** Returns what to call when the client has gone. */
  begin(values: Stream.Stream<ServerEvent<A>, unknown>, { onBegin, repeat, runtime }: House): () => void {
    this.stop = Feed.attend(
      values,
      runtime,
      (event) => this.take(event),
      (exit) => this.ended(exit)
    )
    // A client that has not taken what was there before needs no sign of life
    this.pings = repeat(pingEvery, () => this.outlet.offer(pingFrame))
    this.begun.take((error) => this.finish(() => this.outlet.end(this.frame({ type: "error", error }))))
    if (!this.isOver) this.leave = onBegin(() => this.finish(() => this.outlet.end(undefined)))
    return () => this.finish(undefined)
  }

  private take(event: ServerEvent<A>): Effect.Effect<void> {
    return Effect.async((resume) => this.outlet.write(this.frame(event), () => resume(Effect.void)))
  }

  private ended(exit: Exit.Exit<void, unknown>): void {
    this.finish(() => {
      if (Exit.isSuccess(exit)) return this.outlet.end(undefined)
      this.broken(exit.cause)
      this.outlet.fail(exit.cause)
    })
  }

  /** Ends the stream, and tells the client how. */
  private finish(told: (() => void) | undefined): void {
    if (this.isOver) return
    this.isOver = true
    this.stop()
    this.pings?.cancel()
    this.leave()
    this.begun.leave()
    told?.()
  }
}

/** Whether a client without WebSockets asks for the messages of one: it accepts events, and asks for no upgrade. */
const acceptsEvents = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["upgrade"] === undefined && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(headers["accept"] ?? "")

/** The values as messages of a WebSocket, or as server-sent events for a client that asks for these. */
export const jsonSocketOrEvents = <A, I, E>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  entitled: Entitled<A, E>
) =>
  Effect.gen(function* () {
    if (acceptsEvents(request)) return yield* serverSentEvents(schema, eventsOf(entitled))
    return yield* jsonSocket(request, schema, entitled)
  })

/** The same for events: each is sent as `eventSocket` sends it. */
export const eventSocketOrEvents = <A, I>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  events: Entitled<ServerEvent<A>>
) =>
  Effect.gen(function* () {
    if (!acceptsEvents(request)) return yield* eventSocket(request, schema, events)
    const values = Feed.map(events.values, (event): ServerEvent<EventMessage<A>> => ({ type: "data", data: messageOf(event) }))
    return yield* serverSentEvents(eventMessage(schema), { right: events.right, values })
  })

const messageOf = <A>(event: ServerEvent<A>): EventMessage<A> => {
  if (event.type === "data") return event
  return event.type === "error" ? { type: "error", data: described(event.error) } : { type: "ping", data: null }
}

const described = (error: unknown) => (error instanceof RightEnded ? responseOf(error) : refusalOf(error))

const refusalOf = (error: unknown) =>
  isRefusal(error) && error._tag !== "NotModified"
    ? responseOf(error)
    : responseOf(new InternalError({ message: "An internal error occurred." }))
