/** WebSockets as endpoints: all that can be refused is refused over HTTP, before the connection is upgraded. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type HeldRight, type RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { service } from "@atelier/core/platform"
import { Context, Deferred, type Duration, Effect, Either, Exit, Fiber, Scope } from "effect"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import { UpgradeRequired } from "../wire/errors.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { Draining } from "../server/operate/Draining.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { StoreFaults } from "../server/operate/StoreFaults.js"
import { refuseHandshake } from "./handshake.js"
import { heartbeat } from "./heartbeat.js"
import { CloseSocket, closeWith } from "./closing.js"
import { type Connection, open } from "./Connection.js"
import { attach, type Attached } from "./heldSocket.js"
import { type House, tell, type Telling } from "./feedSocket.js"
import { beginStream, openStream } from "./openStream.js"
import { upgrade } from "./upgrade.js"

export interface Options {
  /** Hosts whose pages may connect, in addition to the request's own. */
  readonly origins?: ReadonlyArray<string> | "*"
  /** Subprotocols the endpoint speaks; the first that the client offers too is selected. */
  readonly subprotocols?: ReadonlyArray<string>
  /** How often the client is asked whether it is there; null where the protocol on top does so itself. Default 15 seconds. */
  readonly pingEvery?: Duration.DurationInput | null
  /** How long the client may take to say so. Default 15 seconds. */
  readonly pongWithin?: Duration.DurationInput
  /** How long the client may take to accept a message. Default 10 seconds. */
  readonly sendWithin?: Duration.DurationInput
  /** Headers of the response that upgrades the request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether binary messages are the bytes of a stream, whose borders carry no meaning: they are taken and given in the pieces in which they come. */
  readonly isStream?: boolean
}

export class WebSockets extends Context.Tag("@atelier/http/WebSockets")<
  WebSockets,
  {
    /**
     * Upgrades a request and runs its handler, with the right that is kept, until it completes (the socket is closed with 1000), fails (1011, 1013 where the store
     * cannot answer, or the code of a `CloseSocket`), the right to the stream ends (1008), the client goes, or the service ends (1012). Answers what the endpoint has to
     * answer: the response that refuses the handshake, or nothing more.
     */
    readonly serve: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      right: StreamRight,
      handler: (connection: Connection, held: HeldRight) => Effect.Effect<void, E, R>,
      options?: Options
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | Scope.Scope>

    /**
     * Prepares what a request's WebSocket is to carry, which may refuse the request, then upgrades it and begins that, with the right that is kept. Both happen in a scope
     * that closes when the socket ends: by `end` of the connection, or as with `serve`. The request ends before.
     */
    readonly attach: <E, F, R>(
      request: HttpServerRequest.HttpServerRequest,
      right: StreamRight,
      prepare: Effect.Effect<(connection: Connection, held: HeldRight) => Effect.Effect<void, E, Scope.Scope>, F, R>,
      options?: Options
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, F, FeedRuntime | Exclude<R, Scope.Scope>>

    /**
     * Upgrades a request and sends values until there are no more. The socket ends as with `serve`, and the request before it: an open socket takes no fiber while it
     * waits for the next value. A client that sends anything is closed.
     */
    readonly tell: <A, E>(
      request: HttpServerRequest.HttpServerRequest,
      right: StreamRight,
      telling: Telling<A, E>,
      options?: Options
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, FeedRuntime | Scope.Scope>
  }
>() {
  static readonly layer = service(
    WebSockets,
    Effect.gen(function* () {
      const { cors, maximumMessage, names, version } = yield* Settings
      const draining = yield* Draining
      const rights = yield* StreamRights
      const faults = yield* StoreFaults
      const heartbeats = yield* Heartbeat
      const house = { draining, faults, heartbeats }
      /** The request's WebSocket, which may outlive it. Its handshake is not refused. */
      const upgraded = (request: HttpServerRequest.HttpServerRequest, options: Options) =>
        Effect.map(CurrentRequest, ({ counted, id }) => {
          const socket = upgrade(request, maximumMessage, options, {
            [names.requestIdHeader]: id,
            [names.buildVersionHeader]: version,
            ...options.headers
          })
          if (socket === undefined || counted === undefined) return socket
          return { ...socket, release: bothOf(counted.outlived(), socket.release) }
        })
      return WebSockets.of({
        tell: <A, E>(request: HttpServerRequest.HttpServerRequest, right: StreamRight, telling: Telling<A, E>, options: Options = {}) =>
          Effect.gen(function* () {
            const refusal = refuseHandshake(request, options.origins ?? [], cors.origins)
            if (refusal !== undefined) return refusal
            const runtime = yield* FeedRuntime
            const begun = yield* Effect.provideService(beginStream(right), StreamRights, rights)
            if ("refusal" in begun) return begun.refusal
            const socket = yield* upgraded(request, options)
            if (socket === undefined) return notUpgraded
            tell(socket, begun, telling, house, runtime, options)
            return HttpServerResponse.empty()
          }),
        attach: (request, right, prepare, options = {}) =>
          Effect.gen(function* () {
            const refusal = refuseHandshake(request, options.origins ?? [], cors.origins)
            if (refusal !== undefined) return refusal
            const runtime = yield* FeedRuntime
            return yield* Effect.uninterruptibleMask((restore) =>
              Effect.flatMap(Scope.make(), (scope) =>
                Effect.gen(function* () {
                  const { endWith, revoke } = revocation()
                  const held = yield* Effect.provideService(openStream(right, revoke), StreamRights, rights).pipe(
                    Scope.extend(scope),
                    restore
                  )
                  const begin = Either.isRight(held) ? yield* restore(Scope.extend(prepare, scope)) : undefined
                  const socket = begin === undefined ? undefined : yield* upgraded(request, options)
                  if (Either.isLeft(held) || begin === undefined || socket === undefined) {
                    yield* Scope.close(scope, Exit.void)
                    return Either.isLeft(held) ? held.left : notUpgraded
                  }
                  const { end } = attach(socket, scope, (connection) => begin(connection, held.right), house, runtime, options)
                  endWith(end)
                  return HttpServerResponse.empty()
                }).pipe(Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))))
              )
            )
          }),
        serve: (request, right, handler, options = {}) =>
          Effect.gen(function* () {
            const refusal = refuseHandshake(request, options.origins ?? [], cors.origins)
            if (refusal !== undefined) return refusal
            const over = yield* Deferred.make<void, unknown>()
            const revoke = ({ message }: RightEnded): void => Deferred.unsafeDone(over, new CloseSocket({ code: 1008, reason: message }))
            const held = yield* Effect.provideService(openStream(right, revoke), StreamRights, rights)
            if (Either.isLeft(held)) return held.left
            const socket = yield* upgraded(request, options)
            if (socket === undefined) return notUpgraded
            yield* Effect.ensuring(
              runSocket(socket, over, (connection) => handler(connection, held.right), house, options),
              Effect.sync(socket.release)
            )
            return HttpServerResponse.empty()
          })
      })
    })
  )
}

/** The end of a right to a socket, which may be told before there is one. Outside of what upgrades, whose request it would keep. */
const revocation = () => {
  let ended: RightEnded | undefined
  let end: Attached["end"] | undefined
  const revoke = (reason: RightEnded): void => {
    ended = reason
    end?.(Exit.fail(new CloseSocket({ code: 1008, reason: reason.message })))
  }
  const endWith = (socketEnd: Attached["end"]): void => {
    end = socketEnd
    if (ended !== undefined) revoke(ended)
  }
  return { endWith, revoke }
}

/** Outside of what upgrades, too. */
const bothOf = (one: () => void, other: () => void) => (): void => {
  one()
  other()
}

const notUpgraded = refuse(
  new UpgradeRequired({ message: "The connection cannot be upgraded.", detail: "The host does not pass upgrade requests on." })
)

/** A WebSocket, and the connection that it has. */
export interface Upgraded {
  readonly webSocket: WebSocket
  readonly socket: Duplex
}

/** Runs a socket's handler until it or `over` ends, and closes the socket with how it did. */
export const runSocket = <E, R>(
  upgraded: Upgraded,
  over: Deferred.Deferred<void, unknown>,
  handler: (connection: Connection) => Effect.Effect<void, E, R>,
  house: House,
  options: Options
): Effect.Effect<unknown, never, R> =>
  attend(upgraded, over, handler, house, options).pipe(
    Effect.exit,
    Effect.tap((exit) => closeWith(upgraded.webSocket, exit, house.faults)),
    Effect.onInterrupt(() => Effect.sync(() => upgraded.webSocket.terminate()))
  )

/** Runs the handler until it ends or something ends it. All write into `over`: a race of each with the next, or a fiber, would take more memory. */
const attend = <E, R>(
  { socket, webSocket }: Upgraded,
  over: Deferred.Deferred<void, unknown>,
  handler: (connection: Connection) => Effect.Effect<void, E, R>,
  { draining, heartbeats }: House,
  options: Options
): Effect.Effect<void, unknown, R> => {
  const end = (exit: Exit.Exit<void, unknown>): void => Deferred.unsafeDone(over, exit)
  return Effect.acquireUseRelease(
    Effect.gen(function* () {
      const leave = draining.onBegin(() => end(Exit.fail(new CloseSocket({ code: 1012, reason: "The service is restarting." }))))
      const connection = open(webSocket, options, end, socket)
      const lost = (): void => end(Exit.fail(new CloseSocket({ code: 1001, reason: "liveness probe failed" })))
      const rest = heartbeat(heartbeats, webSocket, options, lost)
      const handling = yield* Effect.fork(Effect.interruptible(Effect.intoDeferred(handler(connection), over)))
      return { handling, leave, rest }
    }),
    () => Deferred.await(over),
    ({ handling, leave, rest }) => {
      leave()
      rest()
      return Fiber.interrupt(handling)
    }
  )
}
