import { Cryptography, nextTurn } from "@atelier/core/platform"
import { Effect, Layer } from "effect"
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

/** On Node's own module, whose hashing of small inputs is an order of magnitude faster than the Web Cryptography API's. */
export const layer = Layer.succeed(Cryptography, {
  randomBytes: (length) => Effect.sync(() => randomBytes(length)),
  sha256: (data) =>
    data.length <= hashedPerTurn ? Effect.sync(() => new Uint8Array(hash("sha256", data, "buffer"))) : digestInTurns(data),
  pbkdf2Sha256: ({ iterations, length, password, salt }) =>
    Effect.map(
      Effect.promise(() => derive(password, salt, iterations, length, "sha256")),
      (key) => new Uint8Array(key)
    )
})
