/** WebSockets as endpoints: all that can be refused is refused over HTTP, before the connection is upgraded. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { binaryFrames, payloadsOf, takeBinary, writeTogether } from "@atelier/agent-protocol"
import { type HeldRight, type RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { Context, Deferred, Duration, Effect, Either, Exit, Fiber, Layer, Mailbox, Option, type Scope, Stream } from "effect"
import type { Duplex } from "node:stream"
import { type RawData, WebSocket } from "ws"
import { UpgradeRequired } from "../wire/errors.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { Draining } from "../server/operate/Draining.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { StoreFaults } from "../server/operate/StoreFaults.js"
import { refuseHandshake } from "./handshake.js"
import { arrived, heartbeat } from "./heartbeat.js"
import { CloseSocket, closeWith, SocketClosed } from "./closing.js"
import { type House, tell, type Telling } from "./feedSocket.js"
import { beginStream, openStream } from "./openStream.js"
import { sender } from "./sender.js"
import { closing, upgrade } from "./upgrade.js"

/** One side of a WebSocket, in a handler's hands. */
export interface Connection {
  /** Sends a message; completes when the client has taken so much that more may follow. */
  readonly send: (message: string | Uint8Array) => Effect.Effect<void, SocketClosed>
  /**
   * The client's messages, to be run once, with back-pressure. Ends when the client closes with 1000 or 1001, and fails when it closes
   * otherwise. Without a reader, messages are dropped.
   */
  readonly messages: Stream.Stream<string | Uint8Array, SocketClosed>
  /** Sends bytes in their order as binary messages, without an effect for each. Calls back once when more may follow, or with why they were not sent. */
  readonly write: (pieces: ReadonlyArray<Uint8Array>, done: (error?: SocketClosed) => void) => void
  /** Sends a text without waiting. */
  readonly tell: (text: string) => void
  /** Gives each message to `take` at once, without back-pressure, in place of `messages`. Ends and fails like these. */
  readonly receive: (take: (message: string | Uint8Array) => void) => Effect.Effect<void, SocketClosed>
  /** Has the client wait, or go on. For `receive`. */
  readonly pause: (isPaused: boolean) => void
  /** Ends the handler, and closes the socket as if the handler had ended so. */
  readonly end: (exit: Exit.Exit<void, unknown>) => void
}

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

/** Bytes of unread messages above which the client has to wait. */
const inboxLimit = 1024 * 1024

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
  static readonly layer = Layer.effect(
    WebSockets,
    Effect.gen(function* () {
      const { cors, maximumMessage, names, version } = yield* Settings
      const draining = yield* Draining
      const rights = yield* StreamRights
      const faults = yield* StoreFaults
      const heartbeats = yield* Heartbeat
      const house = { draining, faults, heartbeats }
      /** The request's WebSocket. Its handshake is not refused. */
      const upgraded = (request: HttpServerRequest.HttpServerRequest, options: Options) =>
        Effect.map(CurrentRequest, (info) => {
          const socket = upgrade(request, maximumMessage, options, {
            [names.requestIdHeader]: info.id,
            [names.buildVersionHeader]: version,
            ...options.headers
          })
          if (socket !== undefined) info.counted?.upgraded()
          return socket
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
      const connection = yield* open(webSocket, options, end, socket)
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

/** Sends messages with one write to the connection, and calls back when all have left. */
const sendEach = (
  webSocket: WebSocket,
  connection: Duplex | undefined,
  messages: ReadonlyArray<Uint8Array>,
  sent: (error?: Error | null) => void
): void => {
  if (messages.length === 0) return queueMicrotask(sent)
  connection?.cork()
  for (const [at, message] of messages.entries()) webSocket.send(message, at === messages.length - 1 ? sent : undefined)
  connection?.uncork()
}

/** Bytes of overhead that a queued message is counted with. */
const messageOverhead = 64

/** Listens to a socket, and calls `end` with the reason of its end. Messages of one turn become one write to `connection`. */
export const open = (
  webSocket: WebSocket,
  { isStream = false, sendWithin }: Options,
  end: (exit: Exit.Exit<void, unknown>) => void,
  connection?: Duplex,
  isClient = false
): Effect.Effect<Connection> =>
  Effect.gen(function* () {
    const inbox = yield* Mailbox.make<string | Uint8Array, SocketClosed>()
    let unread = 0
    let isRead = false
    let taker: ((message: string | Uint8Array) => void) | undefined

    const arrive = (message: string | Uint8Array, length: number): void => {
      if (taker !== undefined) return taker(message)
      unread += length + messageOverhead
      if (unread > inboxLimit) webSocket.pause()
      inbox.unsafeOffer(message)
    }
    const takePiece = (bytes: Uint8Array): void => {
      webSocket.emit(arrived)
      arrive(bytes, bytes.length)
    }
    const isTaken = isStream && connection !== undefined && takeBinary(connection, { isMasked: !isClient, take: takePiece })
    webSocket.on("message", (data: RawData, isBinary) => {
      // The library is given what is unread at the end, which may begin within a message
      if (isTaken && connection.destroyed) return
      const bytes = Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data
      arrive(isBinary ? bytes : bytes.toString("utf8"), bytes.length)
    })
    const onClose = (code: number, reason: Buffer): void => {
      const error = new SocketClosed({ code, reason: reason.toString("utf8") })
      inbox.unsafeDone(code === 1000 || code === 1001 ? Exit.void : Exit.fail(error))
      // A reader learns it in turn, behind the messages before it
      if (!isRead) end(Exit.fail(error))
    }
    // A broken frame: the socket is closed with the code that fits, and its close is reported below
    webSocket.on("error", () => {})
    webSocket.on(closing, onClose)
    webSocket.on("close", onClose)
    if (webSocket.isPaused) webSocket.resume()

    return {
      send: sender(webSocket, sendWithin),
      write: (pieces, done) => {
        const sent = (error?: Error | null): void => done(error ? new SocketClosed({ code: 1006, reason: error.message }) : undefined)
        // A client's frames have masks
        if (connection === undefined || isClient) return sendEach(webSocket, connection, payloadsOf(pieces), sent)
        if (webSocket.readyState !== WebSocket.OPEN) return done(new SocketClosed({ code: 1006, reason: "the WebSocket is closed" }))
        writeTogether(connection, payloadsOf(binaryFrames(pieces, false).frames), sent)
      },
      tell: (text) => webSocket.send(text),
      end,
      pause: (isPaused) => {
        if (isPaused) webSocket.pause()
        else if (webSocket.isPaused) webSocket.resume()
      },
      messages: Stream.suspend(() => {
        isRead = true
        return Stream.tap(Mailbox.toStream(inbox), (message) =>
          Effect.sync(() => {
            unread -= (typeof message === "string" ? Buffer.byteLength(message) : message.length) + messageOverhead
            if (unread <= inboxLimit && webSocket.isPaused) webSocket.resume()
          })
        )
      }),
      receive: (take) =>
        Effect.suspend(() => {
          isRead = true
          const takeOver: Effect.Effect<void, SocketClosed> = Effect.flatMap(inbox.clear, (early) => {
            for (const message of early) take(message)
            if (Option.getOrElse(inbox.unsafeSize(), () => 0) > 0) return takeOver
            taker = take
            if (webSocket.isPaused) webSocket.resume()
            return inbox.await
          })
          return takeOver
        })
    }
  })
