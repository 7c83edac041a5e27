import { Data, type Effect, type Exit } from "effect"
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
  readonly receive: (take: (bytes: Uint8Array) => void) => Effect.Effect<void, TransportError>
  readonly send: (bytes: Uint8Array) => Effect.Effect<void, TransportError>
  readonly close: (exit: Exit.Exit<void, SessionEnded>) => Effect.Effect<void>
}

/** Bytes of a payload with which no more is joined: a transport that waited after each of these would send one in a turn of the event loop. */
const fullPayload = 32 * 1024

/** Bytes that a transport sends at most in one turn of the event loop. */
const bytesOfTurn = 512 * 1024

/**
 * Tells a transport of each payload whether it is to complete only after other work: where more may be joined to the next one, and after 512 KiB. While
 * the system takes all bytes at once, what the windows of many streams let through would keep everything else waiting.
 */
export const makePauses = (): ((payload: Uint8Array) => boolean) => {
  let sent = 0
  return ({ length }) => {
    sent += length
    if (length >= fullPayload && sent < bytesOfTurn) return false
    sent = 0
    return true
  }
}
