/** A stream of bytes by callbacks, as a WebSocket carries it. */
import { Loans } from "@atelier/agent-protocol"
import { AgentUnreachable, type DirectStream } from "@atelier/core/network"
import type { Exit } from "effect"
import type { SocketClosed } from "./closing.js"
import { type Connection, messageOverhead } from "./Connection.js"

/** Bytes that wait to be read above which the other side has to wait, with the overhead of each message. */
const maximumWaiting = 1024 * 1024

/** Milliseconds that the other side may take to accept bytes: its user's machine may sleep. */
const sendWithin = 60_000

/** The socket has closed before the end of the stream. */
const interrupted = new AgentUnreachable({ message: "The stream to the workspace's agent was interrupted." })

/** What the two sides of a socket have agreed on. */
export interface Terms {
  /** Why a writer fails whose bytes are not accepted in time. */
  readonly silent: AgentUnreachable
  /** Takes a text message, and returns how the stream ends with it: null for its proper end. */
  readonly onText: () => null | AgentUnreachable
}

export interface SocketStream {
  readonly direct: DirectStream
  /** Receives until the socket closes, and calls `closed` then. To be called once. */
  readonly receive: (closed: (exit: Exit.Exit<void, SocketClosed>) => void) => void
}

/** Bytes of a piece. A message may be larger, which the other process's limit of 1 MiB allows. */
const pieceBytes = 256 * 1024

/** The pieces that messages are made of. */
const piecesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  bytes.length <= pieceBytes
    ? [bytes]
    : Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) => bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes))

/** Bytes that are gathered for one write: what two reads bring. Bytes beyond it are no longer in the processor's cache when they are written. */
const gatheredBytes = 128 * 1024

/** Bytes that do not wait for what other reads of the turn bring: they are rarely followed by more, and an answer to them is waited for. */
const smallBytes = 16 * 1024

/** Bytes that wait to leave above which a writer has to wait. */
const maximumUnsent = 256 * 1024

/** Gathers bytes until the end of a turn, or until there are enough for a write of their own. */
const gathering = (write: Connection["write"], silent: AgentUnreachable) => {
  let pieces: Array<Uint8Array> = []
  let size = 0
  let leaving: Array<() => void> = []
  /** Bytes that have been handed to the connection and have not left. */
  let unsent = 0
  let isScheduled = false
  let broken: AgentUnreachable | undefined
  let waiting: ((error?: AgentUnreachable) => void) | undefined
  let timer: NodeJS.Timeout | undefined
  const goOn = (): void => {
    if (waiting === undefined || (broken === undefined && size + unsent >= maximumUnsent)) return
    const done = waiting
    waiting = undefined
    clearTimeout(timer)
    done(broken)
  }
  const end = (error: AgentUnreachable): void => {
    broken ??= error
    pieces = []
    leaving = []
    clearTimeout(timer)
    goOn()
  }
  const flush = (): void => {
    if (pieces.length === 0 || broken !== undefined) return
    const [written, sent, bytes] = [pieces, leaving, size]
    pieces = []
    leaving = []
    size = 0
    unsent += bytes
    write(written, (error) => {
      if (error !== undefined) return end(new AgentUnreachable({ message: error.message }))
      unsent -= bytes
      for (const left of sent) left()
      if (unsent === 0) flush()
      goOn()
    })
  }
  const flushLater = (): void => {
    isScheduled = false
    if (unsent === 0) flush()
  }
  return {
    flush,
    put: (bytes: Uint8Array, done: (error?: AgentUnreachable) => void, sent?: () => void): void => {
      if (broken !== undefined) return done(broken)
      const added = piecesOf(bytes)
      for (const piece of added) pieces.push(piece)
      if (sent !== undefined) leaving.push(sent)
      // The smallest ones are bounded in their count
      size += bytes.length + added.length * messageOverhead
      if (size >= gatheredBytes && unsent === 0) flush()
      else if (!isScheduled) {
        isScheduled = true
        if (size < smallBytes) process.nextTick(flushLater)
        else setImmediate(flushLater)
      }
      // A connection that is closed refuses a write at once
      if (broken !== undefined || size + unsent < maximumUnsent) return done(broken)
      // A writer that was interrupted may still wait
      clearTimeout(timer)
      waiting = done
      timer = setTimeout(() => end(silent), sendWithin)
    }
  }
}

/** The binary messages of a connection as a stream, until a text message. */
export const socketStream = (
  { listen, pause, write }: Pick<Connection, "listen" | "pause" | "write">,
  { onText, silent }: Terms
): SocketStream => {
  const writer = gathering(write, silent)
  let waiting: Array<Uint8Array> = []
  let size = 0
  let isPaused = false
  let last: null | AgentUnreachable | undefined
  let readable: (() => void) | undefined
  const wake = (): void => {
    const ready = readable
    readable = undefined
    ready?.()
  }
  const end = (how: null | AgentUnreachable): void => {
    last ??= how
    wake()
  }
  const hold = (): void => {
    const isFull = size > maximumWaiting
    if (isFull === isPaused) return
    isPaused = isFull
    pause(isFull)
  }
  const arrive = (message: string | Uint8Array): void => {
    if (last !== undefined) return
    if (typeof message === "string") return end(onText())
    if (message.length === 0) return
    waiting.push(message)
    size += message.length + messageOverhead
    hold()
    wake()
  }
  return {
    direct: {
      take: (ready) => {
        const bytes = waiting.shift()
        if (bytes !== undefined) {
          size -= bytes.length + messageOverhead
          hold()
          return bytes
        }
        if (last === undefined) readable = ready
        return last
      },
      put: (bytes, done, sent) => {
        if (bytes.length > 0) return writer.put(bytes, done, sent)
        done()
        sent?.()
      },
      finish: writer.flush
    },
    receive: (closed) =>
      listen(arrive, (exit) => {
        closed(exit)
        end(interrupted)
      })
  }
}

/** Passes bytes on, no faster than they are taken. `over` is called with why it cannot go on, and `ended` at the end of the bytes. */
export const passOn = (from: DirectStream, to: DirectStream, over: (error: Error) => void, ended?: () => void): void => {
  const go = (): void => {
    for (;;) {
      const bytes = from.take(go)
      if (bytes === undefined) return
      if (bytes === null) {
        to.finish()
        return ended?.()
      }
      if (bytes instanceof Error) return over(bytes)
      let isAtOnce = true
      let isTaken = false
      const taken = (error?: Error): void => {
        if (error !== undefined) return over(error)
        isTaken = true
        if (!isAtOnce) go()
      }
      to.put(bytes, taken, () => Loans.giveBack(bytes.buffer, bytes.length))
      isAtOnce = false
      if (!isTaken) return
    }
  }
  go()
}
