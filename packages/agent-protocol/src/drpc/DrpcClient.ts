import { Effect, Exit, Option, Stream, type Scope } from "effect"
import { concatenate } from "../ByteBuffer.js"
import type { ByteStream } from "../ByteStream.js"
import type { Message } from "../messages/Protobuf.js"
import type { SessionEnded, StreamError } from "../yamux/YamuxError.js"
import { InvokeMetadata } from "./InvokeMetadata.js"
import * as Packet from "./Packet.js"
import * as RpcError from "./RpcError.js"
import { path, type AnyMethod, type Method, type Methods, type Service } from "./Service.js"

export type ClientError = RpcError.RpcError | RpcError.CallFailed

/** Calls one method. Interrupting a call, or ending a response stream early, cancels it at the server. */
export type ClientCall<M> =
  M extends Method<"unary", infer _, infer QI, infer S, infer __>
    ? (request: QI) => Effect.Effect<S, ClientError>
    : M extends Method<"serverStreaming", infer _, infer QI, infer S, infer __>
      ? (request: QI) => Stream.Stream<S, ClientError>
      : M extends Method<"clientStreaming", infer _, infer QI, infer S, infer __>
        ? <E = never, R = never>(requests: Stream.Stream<QI, E, R>) => Effect.Effect<S, ClientError | E, R>
        : M extends Method<"bidirectional", infer _, infer QI, infer S, infer __>
          ? <E = never, R = never>(requests: Stream.Stream<QI, E, R>) => Stream.Stream<S, ClientError | E, R>
          : never

/** A call for every method of a service. */
export type Client<M extends Methods> = { readonly [K in keyof M]: ClientCall<M[K]> }

/** Where a client opens a byte stream for each call: a yamux session. */
export interface Connection {
  readonly open: Effect.Effect<ByteStream, SessionEnded, Scope.Scope>
}

export interface Options {
  /** Sent along with every call. */
  readonly metadata?: ReadonlyMap<string, string>
}

/** Calls are the only ones on their byte stream. */
const onlyStreamId = 1

const noData = new Uint8Array(0)

const disconnected = (error: StreamError) => new RpcError.CallFailed({ reason: "connection", message: error.message })

const decode = <S, SI>(type: Message<S, SI>, bytes: Uint8Array) =>
  Effect.mapError(
    type.decode(bytes),
    (error) => new RpcError.CallFailed({ reason: "message", message: `Malformed ${error.type}: ${error.message}` })
  )

const encode = <Q, QI>(type: Message<Q, QI>, value: QI) =>
  Effect.flatMap(
    Effect.mapError(
      type.encode(value),
      (error) => new RpcError.CallFailed({ reason: "message", message: `Cannot send ${error.type}: ${error.message}` })
    ),
    (bytes) =>
      bytes.length > Packet.maximumPacketBytes
        ? new RpcError.CallFailed({ reason: "message", message: `A request is larger than ${Packet.maximumPacketBytes} bytes` })
        : Effect.succeed(bytes)
  )

/** One call on its byte stream. */
interface OpenCall {
  /** Sends requests; after the last ones nothing more. */
  readonly send: (messages: ReadonlyArray<Uint8Array>, last: boolean) => Effect.Effect<void, RpcError.CallFailed>
  /** The next response; none after the last. */
  readonly receive: Effect.Effect<Option.Option<Uint8Array>, ClientError>
}

/** Begins a call; nothing is sent before the first `send`. Closing the scope tells the server that the call is over, canceled unless it succeeded. */
const begin = (connection: Connection, rpc: string, options: Options): Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const stream = yield* Effect.mapError(connection.open, disconnected)
    const decoder = new Packet.Decoder()
    let arrived: Iterator<Packet.Packet | Packet.Violation> = [].values()
    let messageId = 0
    /** Packets that begin the call and were not sent yet. */
    let opening: ReadonlyArray<Uint8Array> = []
    let over = false
    /** Set while bytes are being written: after an interruption nothing more may be written. */
    let torn = false

    const packet = (kind: Packet.Kind, data: Uint8Array) => {
      messageId += 1
      return Packet.encode({ kind, streamId: onlyStreamId, messageId, data })
    }

    if (options.metadata !== undefined && options.metadata.size > 0)
      opening = [packet(Packet.Kind.InvokeMetadata, yield* encode(InvokeMetadata, { entries: options.metadata }))]
    opening = [...opening, packet(Packet.Kind.Invoke, new TextEncoder().encode(rpc))]

    const send: OpenCall["send"] = (messages, last) =>
      Effect.suspend(() => {
        const packets = [...opening, ...messages.map((data) => packet(Packet.Kind.Message, data))]
        if (last) packets.push(packet(Packet.Kind.CloseSend, noData))
        opening = []
        torn = true
        return Effect.mapBoth(stream.write(concatenate(packets)), {
          onFailure: disconnected,
          onSuccess: () => {
            torn = false
          }
        })
      })

    const broken = (message: string) => new RpcError.CallFailed({ reason: "protocol", message })

    const receive: OpenCall["receive"] = Effect.suspend(() => {
      const { done, value: next } = arrived.next()
      if (done === true)
        return Effect.flatMap(
          Effect.mapError(stream.read, disconnected),
          Option.match({
            onNone: () => new RpcError.CallFailed({ reason: "connection", message: "The peer ended the stream" }),
            onSome: (chunk) => {
              arrived = decoder.decode(chunk).values()
              return receive
            }
          })
        )
      if (next.kind === "Violation") return broken(next.message)
      if (next.streamId !== onlyStreamId) return receive
      switch (next.kind) {
        case Packet.Kind.Message:
          return Effect.succeedSome(next.data)
        case Packet.Kind.CloseSend:
          return Effect.succeedNone
        case Packet.Kind.Close:
          over = true
          return Effect.succeedNone
        case Packet.Kind.Error:
          over = true
          return RpcError.decode(next.data)
        case Packet.Kind.Cancel:
          over = true
          return broken("The peer canceled the call")
        default:
          return broken("The peer invokes calls on a stream that is not its own")
      }
    })

    yield* Effect.addFinalizer((exit) =>
      Effect.suspend(() => {
        if (over || opening.length > 0) return Effect.void
        if (torn) return stream.reset
        const farewell = packet(Exit.isSuccess(exit) ? Packet.Kind.Close : Packet.Kind.Cancel, noData)
        return Effect.flatMap(stream.offer(farewell), (sent) => (sent ? Effect.void : stream.reset))
      })
    )
    return { send, receive }
  })

const onlyResponse = <S, SI>(type: Message<S, SI>, call: OpenCall) =>
  Effect.flatMap(
    call.receive,
    Option.match({
      onNone: () => new RpcError.CallFailed({ reason: "protocol", message: "The peer ended the call without a response" }),
      onSome: (bytes) => decode(type, bytes)
    })
  )

const allResponses = <S, SI>(type: Message<S, SI>, call: OpenCall): Stream.Stream<S, ClientError> =>
  Stream.repeatEffectOption(
    Effect.flatMap(
      Effect.mapError(call.receive, Option.some),
      Option.match({
        onNone: () => Effect.fail(Option.none()),
        onSome: (bytes) => Effect.mapError(decode(type, bytes), Option.some)
      })
    )
  )

const sendAll = <Q, QI, E, R>(type: Message<Q, QI>, call: OpenCall, requests: Stream.Stream<QI, E, R>) =>
  requests.pipe(
    Stream.mapEffect((request) => encode(type, request)),
    Stream.runForEachChunk((chunk) => call.send([...chunk], false)),
    Effect.zipRight(call.send([], true))
  )

const unary = <Q, QI, S, SI>(method: Method<"unary", Q, QI, S, SI>, begin: Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope>) =>
  Effect.fnUntraced(function* (request: QI) {
    const bytes = yield* encode(method.request, request)
    const call = yield* begin
    yield* call.send([bytes], true)
    return yield* onlyResponse(method.response, call)
  }, Effect.scoped)

const serverStreaming =
  <Q, QI, S, SI>(method: Method<"serverStreaming", Q, QI, S, SI>, begin: Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope>) =>
  (request: QI) =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const bytes = yield* encode(method.request, request)
        const call = yield* begin
        yield* call.send([bytes], true)
        return allResponses(method.response, call)
      })
    )

const clientStreaming =
  <Q, QI, S, SI>(method: Method<"clientStreaming", Q, QI, S, SI>, begin: Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope>) =>
  <E, R>(requests: Stream.Stream<QI, E, R>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const call = yield* begin
        yield* call.send([], false)
        const sending = Effect.zipRight(sendAll(method.request, call, requests), Effect.never)
        return yield* Effect.raceFirst(onlyResponse(method.response, call), sending)
      })
    )

const bidirectional =
  <Q, QI, S, SI>(method: Method<"bidirectional", Q, QI, S, SI>, begin: Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope>) =>
  <E, R>(requests: Stream.Stream<QI, E, R>) =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const call = yield* begin
        yield* call.send([], false)
        const sending = Stream.execute(sendAll(method.request, call, requests))
        return Stream.merge(allResponses(method.response, call), sending, { haltStrategy: "left" })
      })
    )

const bind = (method: AnyMethod, begin: Effect.Effect<OpenCall, RpcError.CallFailed, Scope.Scope>): unknown => {
  switch (method.kind) {
    case "unary":
      return unary(method, begin)
    case "serverStreaming":
      return serverStreaming(method, begin)
    case "clientStreaming":
      return clientStreaming(method, begin)
    case "bidirectional":
      return bidirectional(method, begin)
  }
}

/** The calls of a service over a session: one yamux stream each, any number at a time. */
export function make<M extends Methods>(service: Service<M>, connection: Connection, options?: Options): Client<M>
export function make(service: Service<Methods>, connection: Connection, options: Options = {}): unknown {
  return Object.fromEntries(
    Object.entries(service.methods).map(([name, method]) => [name, bind(method, begin(connection, path(service, name), options))])
  )
}
