import type { Effect, Option } from "effect"
import type { StreamError } from "./yamux/YamuxError.js"

/** A byte stream in both directions: what DRPC runs on. A yamux stream is one. */
export interface ByteStream {
  /** Reads the bytes that have arrived, at least one, and waits for them; None once the peer has finished. Interrupting it loses nothing. */
  readonly read: Effect.Effect<Option.Option<Uint8Array>, StreamError>
  /** Sends all bytes. Interrupted, it may have sent a part of them. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StreamError>
  /** Sends all bytes where that needs no waiting; otherwise sends nothing and answers false. */
  readonly offer: (bytes: Uint8Array) => Effect.Effect<boolean>
  /** Nothing more will be written; reading goes on. */
  readonly finish: Effect.Effect<void>
  /** Breaks the stream off, in both directions. */
  readonly reset: Effect.Effect<void>
  /** Fails with what broke the stream off; never completes when it ends properly. */
  readonly whenBroken: Effect.Effect<never, StreamError>
}
