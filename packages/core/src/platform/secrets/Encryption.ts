/** Encryption of stored values that must be readable again, such as users' secrets. Values that are only compared are hashed instead. */
import { Context, Data, type Effect } from "effect"

/** An encrypted value, and the key it needs. */
export interface Sealed {
  /** Follows from the key alone: two processes that are given the same key call it the same. */
  readonly key_id: string
  readonly ciphertext: Uint8Array
}

/** The process does not have the key, or the ciphertext is not the one that was made with this key for this place. */
export class Undecipherable extends Data.TaggedError("Undecipherable")<{
  readonly key_id: string
  readonly reason: "unknown key" | "not authentic"
}> {}

export class Encryption extends Context.Tag("@atelier/core/Encryption")<
  Encryption,
  {
    /** The key that `seal` uses. */
    readonly keyId: string
    /**
     * Encrypts and authenticates. `place` says where the value belongs, such as the id of its row: it is not secret and is not part of the
     * result, but the result can only be opened with the same one.
     */
    readonly seal: (plaintext: Uint8Array, place: string) => Effect.Effect<Sealed>
    /** The value that was sealed for this place with any of the keys. */
    readonly open: (sealed: Sealed, place: string) => Effect.Effect<Uint8Array, Undecipherable>
    /** Whether the process has the key with an id. */
    readonly has: (keyId: string) => Effect.Effect<boolean>
  }
>() {}
