/** A byte stream over a WebSocket, as the agents' and clients' RPC runs on. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { makePauses, type Transport, TransportError } from "@atelier/agent-protocol"
import type { HeldRight, StreamRight } from "@atelier/core/access"
import { Cause, Effect, Exit, type Scope } from "effect"
import { endOfTurn } from "../server/codec/endOfTurn.js"
import { CloseSocket, SocketClosed } from "./closing.js"
import type { Connection } from "./Connection.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** The connection of a session. */
export interface ByteSocket extends Transport {
  /** Ends the handler, and closes the socket as if the handler had ended so. */
  readonly end: (exit: Exit.Exit<void, unknown>) => void
}

const textMessage = new CloseSocket({ code: 1003, reason: "This socket takes binary messages." })

const broken = (cause: unknown) => new TransportError({ cause })

/** The stream of bytes that binary messages of a connection carry. A text message closes with 1003. */
export const byteSocketOf = (connection: Connection): ByteSocket => {
  const { end, listen, send, write } = connection
  let hasIntruded = false
  const pausesAfter = makePauses()
  const pausesTurnAfter = makePauses(0)
  const bytesOf = (message: string | Uint8Array): Uint8Array | undefined => {
    if (typeof message !== "string") return message
    hasIntruded = true
    end(Exit.fail(textMessage))
    return undefined
  }
  const listening = (take: (bytes: Uint8Array) => void, ended: (exit: Exit.Exit<void, TransportError>) => void): void =>
    listen(
      (message) => {
        const bytes = hasIntruded ? undefined : bytesOf(message)
        if (bytes !== undefined) take(bytes)
      },
      (exit) => ended(Exit.mapError(exit, broken))
    )
  return {
    listen: listening,
    receive: (take) => Effect.async((resume) => listening(take, resume)),
    end,
    // What is sent until the end of the turn needs one write to the connection
    send: (bytes) => Effect.flatMap(Effect.mapError(send(bytes), broken), () => (pausesAfter(bytes.length) ? endOfTurn : Effect.void)),
    soon: (run) => void setImmediate(run),
    write: (pieces, done) =>
      write(pieces, (error) => {
        if (error !== undefined) done(broken(error))
        else if (pausesTurnAfter(pieces.reduce((sum, { length }) => sum + length, 0))) setImmediate(done)
        else done()
      }),
    // The socket is closed when the handler ends
    close: () => Effect.void
  }
}

/** The protocols on top ask by themselves whether the other side is there. */
export const byteStream: Options = { pingEvery: null, isStream: true }

/**
 * Upgrades a request and runs its handler on the stream of bytes that binary messages carry. A text message closes with 1003. A session on
 * top that its peer has broken, or whose pings the peer does not answer, closes with 1000 and no reason. wire.md §5.1.
 */
export const byteStreamSocket = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  right: StreamRight,
  handler: (socket: ByteSocket, held: HeldRight) => Effect.Effect<void, E, R>,
  options?: Options
) =>
  Effect.flatMap(WebSockets, ({ serve }) =>
    serve(
      request,
      right,
      (connection, held) =>
        Effect.suspend(() => handler(byteSocketOf(connection), held)).pipe(
          Effect.catchAllCause((cause): Effect.Effect<void, E | SocketClosed> => {
            const error = Cause.squash(cause)
            // A client that is gone is no failure of the handler
            return error instanceof TransportError && error.cause instanceof SocketClosed ? error.cause : Effect.failCause(cause)
          })
        ),
      { ...byteStream, ...options }
    )
  )

/** Upgrades a request and begins what is carried by the stream of bytes of its WebSocket, until that ends. The request ends before. */
export const attachByteStream = <E>(
  request: HttpServerRequest.HttpServerRequest,
  right: StreamRight,
  begin: (socket: ByteSocket, held: HeldRight) => Effect.Effect<void, E, Scope.Scope>
) =>
  Effect.flatMap(WebSockets, ({ attach }) =>
    attach(
      request,
      right,
      Effect.succeed((connection: Connection, held: HeldRight) => begin(byteSocketOf(connection), held)),
      byteStream
    )
  )
