/** WebSockets as endpoints: all that can be refused is refused over HTTP, before the connection is upgraded. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { binaryFrames, payloadsOf, takeBinary, writeTogether } from "@atelier/agent-protocol"
import type { Alarms } from "@atelier/core/platform"
import { type HeldRight, type RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { Cause, Context, Data, Deferred, Duration, Effect, Either, Exit, Fiber, Layer, Mailbox, Option, type Scope, Stream } from "effect"
import { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type RawData, WebSocket, WebSocketServer } from "ws"
import { isRefusal, UpgradeRequired } from "../wire/errors.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { Draining } from "../server/operate/Draining.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { StoreFaults } from "../server/operate/StoreFaults.js"
import * as Upgrades from "../server/connection/Upgrades.js"
import { refuseHandshake } from "./handshake.js"
import { arrived, heartbeat } from "./heartbeat.js"
import { openStream } from "./openStream.js"

/** The client has gone, or was told to go. */
export class SocketClosed extends Data.TaggedError("SocketClosed")<{ readonly code: number; readonly reason: string }> {
  override get message(): string {
    return `The WebSocket was closed with ${this.code}${this.reason === "" ? "" : `: ${this.reason}`}`
  }
}

/** Ends a socket from within its handler with a code of the protocol (RFC 6455 §7.4). */
export class CloseSocket extends Data.TaggedError("CloseSocket")<{ readonly code: number; readonly reason: string }> {}

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
  /** How a client that sends anything is closed; absent where it may. */
  readonly oneWay?: { readonly code: 1002 | 1008; readonly reason: string }
  /** How long the client may take to accept a message. Default 10 seconds. */
  readonly sendWithin?: Duration.DurationInput
  /** Headers of the response that upgrades the request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether binary messages are the bytes of a stream, whose borders carry no meaning: they are taken and given in the pieces in which they come. */
  readonly isStream?: boolean
}

/** Bytes of unread messages above which the client has to wait. */
const inboxLimit = 1024 * 1024

/** How long a client may take to answer a close, in milliseconds. */
const closeTimeout = 3_000

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
      return WebSockets.of({
        serve: (request, right, handler, options = {}) =>
          Effect.gen(function* () {
            const refusal = refuseHandshake(request, options.origins ?? [], cors.origins)
            if (refusal !== undefined) return refusal
            const over = yield* Deferred.make<void, unknown>()
            const revoke = ({ message }: RightEnded): void => Deferred.unsafeDone(over, new CloseSocket({ code: 1008, reason: message }))
            const held = yield* Effect.provideService(openStream(right, revoke), StreamRights, rights)
            if (Either.isLeft(held)) return held.left
            const info = yield* CurrentRequest
            const socket = upgrade(request, maximumMessage, options, {
              [names.requestIdHeader]: info.id,
              [names.buildVersionHeader]: version,
              ...options.headers
            })
            if (socket === undefined) return notUpgraded
            info.counted?.upgraded()
            yield* Effect.ensuring(
              runSocket(socket, over, (connection) => handler(connection, held.right), { draining, faults, heartbeats }, options),
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

const closing = Symbol("closing")

/** Tells that its close begins: the client or the service has asked for it. `close` comes once the client has ended the connection too. */
class PromptWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason)
    // A frame without a code is reported as 1005 (RFC 6455 §7.1.5)
    this.emit(closing, code ?? 1005, Buffer.from(reason ?? ""))
  }
}

/**
 * Makes a WebSocket of a request whose handshake is not refused, on its connection, and pauses it until it has listeners. Returns undefined where the host does not
 * pass upgrades on.
 */
export const upgrade = (
  request: HttpServerRequest.HttpServerRequest,
  maxPayload: number,
  { subprotocols = [] }: Options,
  headers: Readonly<Record<string, string>>
): { readonly webSocket: WebSocket; readonly socket: Duplex; readonly release: () => void } | undefined => {
  const taken = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
  if (taken === undefined || !(request.source instanceof IncomingMessage)) return undefined
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: PromptWebSocket,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => subprotocols.find((protocol) => offered.has(protocol)) ?? false
  })
  server.on("headers", (lines) => lines.push(...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)))
  let webSocket: WebSocket | undefined
  server.handleUpgrade(request.source, taken.socket, taken.head, (opened) => {
    webSocket = opened
  })
  if (webSocket === undefined) {
    taken.release()
    return undefined
  }
  // Without a listener, messages would be lost
  webSocket.pause()
  return { webSocket, socket: taken.socket, release: taken.release }
}

/** What may end every socket, and tell why. */
interface House {
  readonly draining: Draining["Type"]
  readonly faults: StoreFaults["Type"]
  readonly heartbeats: Alarms
}

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
  const end = (error: SocketClosed | CloseSocket): void => Deferred.unsafeDone(over, error)
  return Effect.acquireUseRelease(
    Effect.gen(function* () {
      const leave = draining.onBegin(() => end(new CloseSocket({ code: 1012, reason: "The service is restarting." })))
      const connection = yield* open(webSocket, options, end, socket)
      const lost = (): void => end(new CloseSocket({ code: 1001, reason: "liveness probe failed" }))
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
  { isStream = false, oneWay, sendWithin = "10 seconds" }: Options,
  end: (error: SocketClosed | CloseSocket) => void,
  connection?: Duplex,
  isClient = false
): Effect.Effect<Connection> =>
  Effect.gen(function* () {
    const inbox = yield* Mailbox.make<string | Uint8Array, SocketClosed>()
    const sendTimeout = Duration.toMillis(sendWithin)
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
      if (oneWay !== undefined) return end(new CloseSocket(oneWay))
      const bytes = Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data
      arrive(isBinary ? bytes : bytes.toString("utf8"), bytes.length)
    })
    const onClose = (code: number, reason: Buffer): void => {
      const error = new SocketClosed({ code, reason: reason.toString("utf8") })
      inbox.unsafeDone(code === 1000 || code === 1001 ? Exit.void : Exit.fail(error))
      // A reader learns it in turn, behind the messages before it
      if (!isRead) end(error)
    }
    // A broken frame: the socket is closed with the code that fits, and its close is reported below
    webSocket.on("error", () => {})
    webSocket.on(closing, onClose)
    webSocket.on("close", onClose)
    if (webSocket.isPaused) webSocket.resume()

    return {
      send: (message) =>
        Effect.async<void, SocketClosed>((resume) => {
          const timer = setTimeout(() => {
            webSocket.close(1011, "The client takes too long to receive.")
            resume(new SocketClosed({ code: 1011, reason: "The client takes too long to receive." }))
          }, sendTimeout)
          webSocket.send(message, (error) => {
            clearTimeout(timer)
            resume(error ? new SocketClosed({ code: 1006, reason: error.message }) : Effect.void)
          })
        }),
      write: (pieces, done) => {
        const sent = (error?: Error | null): void => done(error ? new SocketClosed({ code: 1006, reason: error.message }) : undefined)
        // A client's frames have masks
        if (connection === undefined || isClient) return sendEach(webSocket, connection, payloadsOf(pieces), sent)
        if (webSocket.readyState !== WebSocket.OPEN) return done(new SocketClosed({ code: 1006, reason: "the WebSocket is closed" }))
        writeTogether(connection, payloadsOf(binaryFrames(pieces, false).frames), sent)
      },
      tell: (text) => webSocket.send(text),
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

/** Characters of a close's reason: at most 123 bytes (RFC 6455 §5.5). */
const truncated = (reason: string): string => {
  const bytes = Buffer.from(reason, "utf8").subarray(0, 123)
  // A character that was cut in two decodes to U+FFFD, which is longer than what is left of it
  return bytes.toString("utf8").replace(/\uFFFD+$/u, "")
}

/** Closes the socket as its handler ended, and waits until the client has answered. */
const closeWith = (webSocket: WebSocket, exit: Exit.Exit<void, unknown>, faults: StoreFaults["Type"]): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (webSocket.readyState === WebSocket.CLOSED) return
    const { code, reason } = yield* closeOf(exit, faults)
    yield* Effect.async<void>((resume) => {
      const timer = setTimeout(() => webSocket.terminate(), closeTimeout)
      webSocket.resume()
      webSocket.once("close", () => {
        clearTimeout(timer)
        resume(Effect.void)
      })
      webSocket.close(code, truncated(reason))
    })
  })

/** A client whose socket the store's absence has closed may try again later (1013). */
const closeOf = (
  exit: Exit.Exit<void, unknown>,
  faults: StoreFaults["Type"]
): Effect.Effect<{ readonly code: number; readonly reason: string }> => {
  if (Exit.isSuccess(exit)) return Effect.succeed({ code: 1000, reason: "" })
  const error = Cause.squash(exit.cause)
  if (error instanceof CloseSocket) return Effect.succeed({ code: error.code, reason: error.reason })
  // Codes below 1000 and 1005 ff. are never sent; the client that caused one is gone
  if (error instanceof SocketClosed) return Effect.succeed({ code: 1011, reason: "" })
  if (isRefusal(error)) return Effect.succeed({ code: 1011, reason: error.message })
  return Effect.map(faults.refusalOf(exit.cause, "a WebSocket's handler failed"), ({ _tag, message }) => ({
    code: _tag === "InternalError" ? 1011 : 1013,
    reason: message
  }))
}
