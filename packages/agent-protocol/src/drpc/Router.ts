import { type Context, Effect, Option, Stream } from "effect"
import type { Message } from "../messages/Protobuf.js"
import type { StreamError } from "../yamux/YamuxError.js"
import { maximumPacketBytes } from "./Packet.js"
import * as RpcError from "./RpcError.js"
import { path, type AnyMethod, type Method, type Methods, type Service } from "./Service.js"

/** The data of a call, beyond its request. */
export interface Call {
  /** `/package.Service/Method` */
  readonly rpc: string
  /** The client's metadata; empty without any. */
  readonly metadata: ReadonlyMap<string, string>
}

/**
 * Answers one method. A failure is answered as an error packet, a defect as "internal error" and logged. The handler is interrupted when the client
 * cancels the call or disappears.
 */
export type Handler<M, R> =
  M extends Method<"unary", infer Q, infer _, infer __, infer SI>
    ? (request: Q, call: Call) => Effect.Effect<SI, RpcError.RpcError, R>
    : M extends Method<"serverStreaming", infer Q, infer _, infer __, infer SI>
      ? (request: Q, call: Call) => Stream.Stream<SI, RpcError.RpcError, R>
      : M extends Method<"clientStreaming", infer Q, infer _, infer __, infer SI>
        ? (requests: Stream.Stream<Q, RpcError.RpcError>, call: Call) => Effect.Effect<SI, RpcError.RpcError, R>
        : M extends Method<"bidirectional", infer Q, infer _, infer __, infer SI>
          ? (requests: Stream.Stream<Q, RpcError.RpcError>, call: Call) => Stream.Stream<SI, RpcError.RpcError, R>
          : never

/** A handler for every method of a service. */
export type Handlers<M extends Methods, R = never> = { readonly [K in keyof M]: Handler<M[K], R> }

type RequirementsOf<H> = {
  [K in keyof H]: H[K] extends (...args: never) => Effect.Effect<infer _, infer __, infer R>
    ? R
    : H[K] extends (...args: never) => Stream.Stream<infer _, infer __, infer R>
      ? R
      : never
}[keyof H]

/** The two directions of a call, as bytes of messages. */
export interface Exchange {
  readonly call: Call
  /** The next request; none after the last. */
  readonly receive: Effect.Effect<Option.Option<Uint8Array>>
  /** Sends responses. After the last ones: the end of the responses, or of the call. */
  readonly send: (messages: ReadonlyArray<Uint8Array>, end?: "CloseSend" | "Close") => Effect.Effect<void, StreamError>
}

/** A handler bound to its method's messages. */
export type Procedure<R> = (exchange: Exchange) => Effect.Effect<void, RpcError.RpcError | StreamError, R>

/** The methods of one or several services, as a server implements them. */
export interface Router<R> {
  /** The method of a name as it is called: `/package.Service/Method`. */
  readonly procedureOf: (rpc: string) => Procedure<R> | undefined
}

const refuse = (message: string) => new RpcError.RpcError({ code: 0, message })

/** A request whose bytes are no message of its type. */
class Malformed extends RpcError.RpcError {}

const decode = <Q, QI>(type: Message<Q, QI>, bytes: Uint8Array) =>
  Effect.mapError(type.decode(bytes), (error) => new Malformed({ code: 0, message: `malformed ${error.type}: ${error.message}` }))

const encode = <S, SI>(type: Message<S, SI>, value: SI) =>
  Effect.flatMap(
    Effect.mapError(type.encode(value), (error) => refuse(`cannot answer ${error.type}: ${error.message}`)),
    (bytes) => (bytes.length > maximumPacketBytes ? refuse(`the answer is larger than ${maximumPacketBytes} bytes`) : Effect.succeed(bytes))
  )

const onlyRequest = <Q, QI>(type: Message<Q, QI>, exchange: Exchange) =>
  Effect.flatMap(exchange.receive, Option.match({ onNone: () => refuse("the request is missing"), onSome: (bytes) => decode(type, bytes) }))

const allRequests = <Q, QI>(type: Message<Q, QI>, exchange: Exchange): Stream.Stream<Q, RpcError.RpcError> =>
  Stream.repeatEffectOption(
    Effect.flatMap(
      exchange.receive,
      Option.match({
        onNone: () => Effect.fail(Option.none()),
        onSome: (bytes) => Effect.mapError(decode(type, bytes), Option.some)
      })
    )
  )

const answerOnce = <S, SI>(type: Message<S, SI>, exchange: Exchange, response: SI) =>
  Effect.flatMap(encode(type, response), (bytes) => exchange.send([bytes], "CloseSend"))

/** Answers a call of many responses. Its end is the call's, whatever the client may still send; a malformed request ends it without an error. */
const answerAll = <S, SI, R>(type: Message<S, SI>, exchange: Exchange, responses: Stream.Stream<SI, RpcError.RpcError, R>) =>
  responses.pipe(
    Stream.mapEffect((response) => encode(type, response)),
    Stream.runForEachChunk((chunk) => exchange.send([...chunk])),
    Effect.catchTag("RpcError", (error) => (error instanceof Malformed ? Effect.void : error)),
    Effect.zipRight(exchange.send([], "Close"))
  )

const procedure = (method: AnyMethod, handler: never): Procedure<unknown> => {
  switch (method.kind) {
    case "unary":
      return unary(method, handler)
    case "serverStreaming":
      return serverStreaming(method, handler)
    case "clientStreaming":
      return clientStreaming(method, handler)
    case "bidirectional":
      return bidirectional(method, handler)
  }
}

const unary =
  <Q, QI, S, SI, R>(
    method: Method<"unary", Q, QI, S, SI>,
    handler: (request: Q, call: Call) => Effect.Effect<SI, RpcError.RpcError, R>
  ): Procedure<R> =>
  (exchange) =>
    onlyRequest(method.request, exchange).pipe(
      Effect.flatMap((request) => handler(request, exchange.call)),
      Effect.flatMap((response) => answerOnce(method.response, exchange, response))
    )

const serverStreaming =
  <Q, QI, S, SI, R>(
    method: Method<"serverStreaming", Q, QI, S, SI>,
    handler: (request: Q, call: Call) => Stream.Stream<SI, RpcError.RpcError, R>
  ): Procedure<R> =>
  (exchange) =>
    answerAll(
      method.response,
      exchange,
      Stream.unwrap(Effect.map(onlyRequest(method.request, exchange), (request) => handler(request, exchange.call)))
    )

const clientStreaming =
  <Q, QI, S, SI, R>(
    method: Method<"clientStreaming", Q, QI, S, SI>,
    handler: (requests: Stream.Stream<Q, RpcError.RpcError>, call: Call) => Effect.Effect<SI, RpcError.RpcError, R>
  ): Procedure<R> =>
  (exchange) =>
    Effect.flatMap(handler(allRequests(method.request, exchange), exchange.call), (response) =>
      answerOnce(method.response, exchange, response)
    )

const bidirectional =
  <Q, QI, S, SI, R>(
    method: Method<"bidirectional", Q, QI, S, SI>,
    handler: (requests: Stream.Stream<Q, RpcError.RpcError>, call: Call) => Stream.Stream<SI, RpcError.RpcError, R>
  ): Procedure<R> =>
  (exchange) =>
    answerAll(method.response, exchange, handler(allRequests(method.request, exchange), exchange.call))

/** Binds a handler to every method of a service. What the handlers need, serving needs. */
export const make = <M extends Methods, H extends Handlers<M, unknown>>(service: Service<M>, handlers: H): Router<RequirementsOf<H>> =>
  perCall(service)(() => handlers)

/**
 * Returns how to bind the handlers of a service that are made for each call: a connection that waits keeps none of them, but how they are made.
 * What the handlers need, serving needs.
 */
export function perCall<M extends Methods>(
  service: Service<M>
): <H extends Handlers<M, unknown>>(handlers: () => H) => Router<RequirementsOf<H>>
export function perCall(service: Service<Methods>): (handlers: () => Readonly<Record<string, never>>) => Router<unknown> {
  const names = new Map(Object.keys(service.methods).map((name) => [path(service, name), name]))
  return (handlers) => ({
    procedureOf: (rpc) => {
      const name = names.get(rpc)
      const method = name === undefined ? undefined : service.methods[name]
      const handler = name === undefined ? undefined : handlers()[name]
      return method === undefined || handler === undefined ? undefined : procedure(method, handler)
    }
  })
}

/** Gives each call a service. */
export const provideService = <R, I, S>(router: Router<R>, tag: Context.Tag<I, S>, service: NoInfer<S>): Router<Exclude<R, I>> => ({
  procedureOf: (rpc) => {
    const called = router.procedureOf(rpc)
    return called && ((exchange) => Effect.provideService(called(exchange), tag, service))
  }
})

/** Serves several services on the same streams. */
export const merge = <R1, R2>(first: Router<R1>, second: Router<R2>): Router<R1 | R2> => ({
  procedureOf: (rpc): Procedure<R1 | R2> | undefined => first.procedureOf(rpc) ?? second.procedureOf(rpc)
})
