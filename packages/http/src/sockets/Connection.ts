/** One side of a WebSocket by callbacks and effects. */
import { binaryFrames, payloadsOf, takeBinary, writeTogether } from "@atelier/agent-protocol"
import { type Duration, Effect, Exit, Mailbox, Stream } from "effect"
import type { Duplex } from "node:stream"
import { type RawData, WebSocket } from "ws"
import { mayKeep } from "../server/connection/LentBody.js"
import { SocketClosed } from "./closing.js"
import { readLent } from "./lentReads.js"
import { arrived, closing } from "./PromptWebSocket.js"
import { sender } from "./sender.js"

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
  /** Gives each message to `take` at once, without back-pressure, in place of `messages`. Calls `ended` once where these end or fail. */
  readonly listen: (take: (message: string | Uint8Array) => void, ended: (exit: Exit.Exit<void, SocketClosed>) => void) => void
  /** Has the client wait, or go on. For `listen`. */
  readonly pause: (isPaused: boolean) => void
  /** Ends the handler, and closes the socket as if the handler had ended so. */
  readonly end: (exit: Exit.Exit<void, unknown>) => void
}

/** Bytes of unread messages above which the client has to wait. */
const inboxLimit = 1024 * 1024

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
export const messageOverhead = 64

/** What takes messages. */
interface Reader {
  readonly take: (message: string | Uint8Array) => void
  readonly end: (exit: Exit.Exit<void, SocketClosed>) => void
}

/** How a socket is listened to. */
export interface Reading {
  /** How long the client may take to accept a message. Default 10 seconds. */
  readonly sendWithin?: Duration.DurationInput
  /** Whether binary messages are the bytes of a stream, whose borders carry no meaning: they are taken and given in the pieces in which they come. */
  readonly isStream?: boolean
}

/**
 * Listens to a socket, and calls `end` with the reason of its end. Messages of one turn become one write to `connection`. `client` tells that this is the client's side, and
 * whether no other program can read what it sends.
 */
export const open = (
  webSocket: WebSocket,
  { isStream = false, sendWithin }: Reading,
  end: (exit: Exit.Exit<void, unknown>) => void,
  connection?: Duplex,
  client?: { readonly isHidden: boolean }
): Connection => {
  /** Messages that have arrived before the first reader. */
  let early: Array<string | Uint8Array> = []
  let unread = 0
  let reader: Reader | undefined
  let ended: Exit.Exit<void, SocketClosed> | undefined

  const arrive = (message: string | Uint8Array, length: number): void => {
    if (reader !== undefined) return reader.take(message)
    early.push(message)
    hold(length + messageOverhead)
  }
  const hold = (bytes: number): void => {
    unread += bytes
    if (unread > inboxLimit) webSocket.pause()
    else if (bytes < 0 && webSocket.isPaused) webSocket.resume()
  }
  const readBy = (next: Reader): void => {
    const before = early
    early = []
    reader = next
    for (const message of before) next.take(message)
    if (ended !== undefined) next.end(ended)
  }
  const takePiece = (bytes: Uint8Array): void => {
    webSocket.emit(arrived)
    arrive(bytes, bytes.length)
  }
  const isTaken =
    isStream &&
    connection !== undefined &&
    takeBinary(connection, { isMasked: client === undefined, take: takePiece }, (take) => readLent(connection, take))
  webSocket.on("message", (data: RawData, isBinary) => {
    // The library is given what is unread at the end, which may begin within a message
    if (isTaken && connection.destroyed) return
    const bytes = Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data
    arrive(isBinary ? bytes : bytes.toString("utf8"), bytes.length)
  })
  const onClose = (code: number, reason: Buffer): void => {
    if (ended !== undefined) return
    const error = new SocketClosed({ code, reason: reason.toString("utf8") })
    ended = code === 1000 || code === 1001 ? Exit.void : Exit.fail(error)
    // A reader learns it in turn, behind the messages before it
    if (reader === undefined) end(Exit.fail(error))
    else reader.end(ended)
  }
  // A broken frame: the socket is closed with the code that fits, and its close is reported below
  webSocket.on("error", () => {})
  webSocket.on(closing, onClose)
  webSocket.on("close", onClose)
  if (webSocket.isPaused) webSocket.resume()

  const listen: Connection["listen"] = (take, end) => {
    // Before the reader has what came before: that may be so much that it pauses
    if (webSocket.isPaused) webSocket.resume()
    readBy({ take, end })
  }

  return {
    send: sender(webSocket, sendWithin),
    write: (pieces, done) => {
      const sent = (error?: Error | null): void => done(error ? new SocketClosed({ code: 1006, reason: error.message }) : undefined)
      // A client's frames have masks, by the library where a proxy could read them (RFC 6455 §10.3)
      if (connection === undefined || client?.isHidden === false) return sendEach(webSocket, connection, payloadsOf(pieces), sent)
      if (webSocket.readyState !== WebSocket.OPEN) return done(new SocketClosed({ code: 1006, reason: "the WebSocket is closed" }))
      // Their owner has lent memory read into again once they have left
      const lasting = mayKeep(connection) ? pieces.map((piece) => Uint8Array.from(piece)) : pieces
      writeTogether(connection, payloadsOf(binaryFrames(lasting, client !== undefined).frames), sent)
    },
    end,
    pause: (isPaused) => {
      if (isPaused) webSocket.pause()
      else if (webSocket.isPaused) webSocket.resume()
    },
    // Made when they are read: most sockets are listened to, and a stream that is kept takes 2 KB
    messages: Stream.suspend(() =>
      Stream.unwrap(
        Effect.map(Mailbox.make<string | Uint8Array, SocketClosed>(), (inbox) => {
          const lengthOf = (message: string | Uint8Array): number =>
            (typeof message === "string" ? Buffer.byteLength(message) : message.length) + messageOverhead
          unread = 0
          readBy({
            take: (message) => {
              hold(lengthOf(message))
              inbox.unsafeOffer(message)
            },
            end: (exit) => void inbox.unsafeDone(exit)
          })
          return Stream.tap(Mailbox.toStream(inbox), (message) => Effect.sync(() => hold(-lengthOf(message))))
        })
      )
    ),
    listen
  }
}
