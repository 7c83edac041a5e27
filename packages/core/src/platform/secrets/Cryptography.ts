/**
 * Randomness and hashing. Random values used as secrets come from here, never from `Random`.
 */
import { Context, Effect } from "effect"
import { existing } from "../wiring/Standing.js"

const encoder = new TextEncoder()

export class Cryptography extends Context.Tag("@atelier/core/Cryptography")<
  Cryptography,
  {
    /** Cryptographically secure random bytes. */
    readonly randomBytes: (length: number) => Effect.Effect<Uint8Array>
    /** SHA-256 (FIPS 180-4) of bytes, or of a text in UTF-8: 32 bytes. */
    readonly sha256: (data: Uint8Array | string) => Effect.Effect<Uint8Array>
    /** PBKDF2-HMAC-SHA256 (RFC 8018 §5.2), computed off the event loop. */
    readonly pbkdf2Sha256: (options: {
      readonly password: Uint8Array
      readonly salt: Uint8Array
      readonly iterations: number
      readonly length: number
    }) => Effect.Effect<Uint8Array>
  }
>() {
  /** On the Web Cryptography API that every runtime offers. */
  static readonly web: Cryptography["Type"] = {
    randomBytes: (length) => Effect.sync(() => globalThis.crypto.getRandomValues(new Uint8Array(length))),
    sha256: (data) =>
      Effect.map(
        Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", typeof data === "string" ? encoder.encode(data) : owned(data))),
        (digest) => new Uint8Array(digest)
      ),
    pbkdf2Sha256: ({ iterations, length, password, salt }) =>
      Effect.promise(async () => {
        const key = await globalThis.crypto.subtle.importKey("raw", owned(password), "PBKDF2", false, ["deriveBits"])
        const bits = await globalThis.crypto.subtle.deriveBits(
          { name: "PBKDF2", hash: "SHA-256", salt: owned(salt), iterations },
          key,
          length * 8
        )
        return new Uint8Array(bits)
      })
  }

  static readonly layerWeb = existing(Cryptography, Cryptography.web)
}

/** The Web Cryptography types ask for a view on an unshared buffer. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

/** Compares in a time that depends on the lengths alone. */
export const constantTimeEquals = (left: Uint8Array, right: Uint8Array): boolean => {
  let difference = left.length ^ right.length
  for (let index = 0; index < left.length; index++) difference |= (left[index] ?? 0) ^ (right[index % Math.max(1, right.length)] ?? 0)
  return difference === 0
}

/** SHA-256: a secret of 128 random bits and more needs no slow hash. */
export const hashSecret = ({ sha256 }: Pick<Cryptography["Type"], "sha256">, secret: string): Effect.Effect<Uint8Array> => sha256(secret)

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** `length` independent characters of `0-9A-Za-z`, each equally likely. */
export const randomAlphanumeric = (length: number): Effect.Effect<string, never, Cryptography> =>
  Effect.gen(function* () {
    const { randomBytes } = yield* Cryptography
    let text = ""
    while (text.length < length) {
      for (const byte of yield* randomBytes(length - text.length + 8)) {
        // 248 is the largest multiple of 62 a byte can hold: bytes above it would favour the first letters
        if (byte < 248 && text.length < length) text += alphanumerics[byte % 62]
      }
    }
    return text
  })
