import { Cryptography, existing, nextTurn } from "@atelier/core/platform"
import { Effect } from "effect"
import { createHash, hash, pbkdf2 } from "node:crypto"
import { promisify } from "node:util"
import { randomBytes } from "./randomBytes.js"

const derive = promisify(pbkdf2)

/** Bytes that are hashed before others have their turn. */
const hashedPerTurn = 4 * 1024 * 1024

const digestInTurns = (data: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.gen(function* () {
    const sum = createHash("sha256")
    for (let start = 0; start < data.length; start += hashedPerTurn) {
      sum.update(data.subarray(start, start + hashedPerTurn))
      yield* nextTurn
    }
    return new Uint8Array(sum.digest())
  })

/** The bytes of a text with a character for each. */
const bytesOf = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}

/** Node makes a buffer of the digest outside of its heap, and takes four times as long as for a text. Each request hashes its credential. */
const digest = (data: Uint8Array | string): Uint8Array => bytesOf(hash("sha256", data, "binary"))

const encoder = new TextEncoder()

/** On Node's own module, whose hashing of small inputs is an order of magnitude faster than the Web Cryptography API's. */
export const layer = existing(Cryptography, {
  randomBytes: (length) => Effect.sync(() => randomBytes(length)),
  sha256: (data) =>
    // Made at once, for callers that run no effect
    data.length <= hashedPerTurn ? Effect.succeed(digest(data)) : digestInTurns(typeof data === "string" ? encoder.encode(data) : data),
  pbkdf2Sha256: ({ iterations, length, password, salt }) =>
    Effect.map(
      Effect.promise(() => derive(password, salt, iterations, length, "sha256")),
      (key) => new Uint8Array(key)
    )
})
