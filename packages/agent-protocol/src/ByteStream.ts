import type { Effect, Option } from "effect"
import type { StreamError } from "./yamux/YamuxError.js"

/**
 * A byte stream in both directions by callbacks, for bytes that are only passed on: an effect for each piece costs more than to carry it. One reader and one
 * writer at a time, in place of those of effects.
 */
export interface DirectStream {
  /**
   * Returns bytes that have arrived, at least one; null once the peer has finished; an error once the stream is broken off. Returns undefined where there is
   * nothing yet, and calls `ready` once when there is. A later call replaces it.
   */
  readonly take: (ready: () => void) => Uint8Array | null | StreamError | undefined
  /**
   * Sends all bytes, and calls `done` when more may be written, or with the reason why not all were sent. It may do so at once. The bytes may not change until
   * `sent` is called, which is called once they have left, and not if they never do.
   */
  readonly put: (bytes: Uint8Array, done: (error?: StreamError) => void, sent?: () => void) => void
  /** Nothing more will be written; reading goes on. */
  readonly finish: () => void
}

/** A byte stream in both directions: what DRPC runs on. A yamux stream is one. */
export interface ByteStream {
  /** Reads the bytes that have arrived, at least one, and waits for them; None once the peer has finished. Interrupting it loses nothing. */
  readonly read: Effect.Effect<Option.Option<Uint8Array>, StreamError>
  /** Sends all bytes, which may not change afterwards. Interrupted, it may have sent a part of them. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StreamError>
  /** Sends all bytes where that needs no waiting; otherwise sends nothing and answers false. */
  readonly offer: (bytes: Uint8Array) => Effect.Effect<boolean>
  /** Nothing more will be written; reading goes on. */
  readonly finish: Effect.Effect<void>
  /** Breaks the stream off, in both directions. */
  readonly reset: Effect.Effect<void>
  /** Fails with what broke the stream off; never completes when it ends properly. */
  readonly whenBroken: Effect.Effect<never, StreamError>
  /** The same stream without effects. */
  readonly direct: DirectStream
}
