/** The bytes of a stream between two processes, as a WebSocket carries them. agents-and-apps.md §17. */
import { type AgentStream, AgentUnreachable, type DirectStream } from "@atelier/core/network"
import { Effect, Option } from "effect"
import type { SocketClosed } from "../sockets/closing.js"
import type { Connection } from "../sockets/Connection.js"
import { ended, pieceBytes } from "./wire.js"

/** Bytes that wait to be read above which the other process has to wait. */
const maximumWaiting = 1024 * 1024

/** Milliseconds that the other process may take to accept bytes. */
const sendWithin = 60_000

/** The other side closes without the end of the stream when the service there ends. */
const interrupted = new AgentUnreachable({ message: "The stream to the workspace's agent was interrupted." })

const silent = new AgentUnreachable({ message: "The other process of the service takes too long to receive." })

export interface SocketStream {
  readonly direct: DirectStream
  /** Receives until the socket closes. To be run once. */
  readonly receiving: Effect.Effect<void, SocketClosed>
}

/** The pieces that messages are made of. */
const piecesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  bytes.length <= pieceBytes
    ? [bytes]
    : Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) => bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes))

/** A connection's binary messages as a stream, until it says that they have ended. */
export const socketStream = ({ pause, receive, tell, write }: Connection): SocketStream => {
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
  const receiving = receive((message) => {
    if (last !== undefined) return
    if (typeof message === "string") return end(null)
    if (message.length === 0) return
    waiting.push(message)
    size += message.length
    hold()
    wake()
  })
  return {
    direct: {
      take: (ready) => {
        const bytes = waiting.shift()
        if (bytes !== undefined) {
          size -= bytes.length
          hold()
          return bytes
        }
        if (last === undefined) readable = ready
        return last
      },
      put: (bytes, done) => {
        if (bytes.length === 0) return done()
        const timer = setTimeout(() => over(silent), sendWithin)
        let isOver = false
        const over = (error?: AgentUnreachable): void => {
          if (isOver) return
          isOver = true
          clearTimeout(timer)
          done(error)
        }
        write(piecesOf(bytes), (error) => over(error === undefined ? undefined : new AgentUnreachable({ message: error.message })))
      },
      finish: () => tell(ended)
    },
    receiving: Effect.ensuring(
      receiving,
      Effect.sync(() => end(interrupted))
    )
  }
}

const unreachable = (error: Error): AgentUnreachable =>
  error instanceof AgentUnreachable ? error : new AgentUnreachable({ message: error.message })

/** The same stream with effects. */
export const asAgentStream = (direct: DirectStream): AgentStream => ({
  read: Effect.async((resume) => {
    let isOver = false
    const look = (): void => {
      // What arrives after an interruption is the next reader's
      const bytes = isOver ? undefined : direct.take(look)
      if (bytes === undefined) return
      isOver = true
      resume(bytes instanceof Error ? Effect.fail(unreachable(bytes)) : Effect.succeed(Option.fromNullable(bytes)))
    }
    look()
    return Effect.sync(() => {
      isOver = true
    })
  }),
  write: (bytes) =>
    Effect.async((resume) => direct.put(bytes, (error) => resume(error === undefined ? Effect.void : Effect.fail(unreachable(error))))),
  finish: Effect.sync(() => direct.finish()),
  direct
})

/** Passes bytes on, no faster than they are taken. `over` is called with why it cannot go on; not at the end of the bytes. */
export const passOn = (from: DirectStream, to: DirectStream, over: (error: Error) => void): void => {
  const go = (): void => {
    for (;;) {
      const bytes = from.take(go)
      if (bytes === undefined) return
      if (bytes === null) return to.finish()
      if (bytes instanceof Error) return over(bytes)
      let isAtOnce = true
      let isTaken = false
      to.put(bytes, (error) => {
        if (error !== undefined) return over(error)
        isTaken = true
        if (!isAtOnce) go()
      })
      isAtOnce = false
      if (!isTaken) return
    }
  }
  go()
}
