import { Data, type Effect, type Exit } from "effect"
import { concatenate } from "./ByteBuffer.js"
import type { SessionEnded } from "./yamux/YamuxError.js"

/** The connection under a session broke. */
export class TransportError extends Data.TaggedError("TransportError")<{ readonly cause: unknown }> {
  override get message(): string {
    return `The connection broke: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/**
 * The byte connection a yamux session runs on, such as a WebSocket: message payloads in both directions, whose borders carry no meaning.
 *
 * - `receive` gives each payload to `take` as it arrives. It completes when the peer closed the connection properly (WebSocket codes 1000 and
 *   1001) and fails when it broke. It is run once. `take` never waits: the session's windows bound what it keeps.
 * - `send` completes when more may be sent. It is called by one fiber at a time, with at most 128 KiB. A transport may let a payload of less than
 *   32 KiB complete only after other work, so that the session joins what others write until then to one payload (`makePauses`).
 * - `close` is called once, when the session ended: normally or with the reason. A WebSocket closes with 1000 or 1011; the service closes with 1000 in both cases (wire.md §5.1).
 */
export interface Transport {
  /**
   * Sends pieces in their order, without an effect for each payload, in place of `send`. Calls back once when more may be sent, also if it fails. It is not
   * called again before. The pieces do not change afterwards.
   */
  readonly write?: (pieces: ReadonlyArray<Uint8Array>, done: (error?: TransportError) => void) => void
  /** Calls back, for `write`, when the bytes that were written in the present turn can be sent together. */
  readonly soon?: (run: () => void) => void
  /** Does the same as `receive` without an effect, and calls `ended` once in place of its end. */
  readonly listen?: (take: (bytes: Uint8Array) => void, ended: (exit: Exit.Exit<void, TransportError>) => void) => void
  readonly receive: (take: (bytes: Uint8Array) => void) => Effect.Effect<void, TransportError>
  readonly send: (bytes: Uint8Array) => Effect.Effect<void, TransportError>
  readonly close: (exit: Exit.Exit<void, SessionEnded>) => Effect.Effect<void>
}

/** Bytes of a payload with which no more is joined: a transport that waited after each of these would send one in a turn of the event loop. */
const fullPayload = 32 * 1024

/** Bytes that a transport sends at most in one turn of the event loop. */
const bytesOfTurn = 512 * 1024

/**
 * Tells a transport of the bytes of each payload whether it is to complete only after other work: after 512 KiB, and after a payload to whose successor more may be joined.
 * A transport that waits for the end of the turn before it sends (`soon`) has joined them already: it gives 0 for the bytes of such a payload. While the system takes all
 * bytes at once, what the windows of many streams let through would keep everything else waiting.
 */
export const makePauses = (full = fullPayload): ((length: number) => boolean) => {
  let sent = 0
  return (length) => {
    sent += length
    if (length >= full && sent < bytesOfTurn) return false
    sent = 0
    return true
  }
}

/** Bytes of a piece that is sent as it is. Copying it costs more than a message of its own. */
const ownMessage = 4 * 1024

/** The payloads to send pieces in: small pieces are joined, and large ones stay as they are. */
export const payloadsOf = (pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const payloads: Array<Uint8Array> = []
  let small: Array<Uint8Array> = []
  const join = (): void => {
    if (small.length > 0) payloads.push(concatenate(small))
    small = []
  }
  for (const piece of pieces) {
    if (piece.length < ownMessage) small.push(piece)
    else {
      join()
      payloads.push(piece)
    }
  }
  join()
  return payloads
}
