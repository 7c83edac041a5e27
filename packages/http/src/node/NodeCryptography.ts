import { Cryptography } from "@atelier/core/platform"
import { Effect, Layer } from "effect"
import { createHash, pbkdf2, randomBytes } from "node:crypto"
import { promisify } from "node:util"

const derive = promisify(pbkdf2)

/** On Node's own module, whose hashing of small inputs is an order of magnitude faster than the Web Cryptography API's. */
export const layer = Layer.succeed(Cryptography, {
  randomBytes: (length) => Effect.sync(() => new Uint8Array(randomBytes(length))),
  sha256: (data) => Effect.sync(() => new Uint8Array(createHash("sha256").update(data).digest())),
  pbkdf2Sha256: ({ iterations, length, password, salt }) =>
    Effect.map(
      Effect.promise(() => derive(password, salt, iterations, length, "sha256")),
      (key) => new Uint8Array(key)
    )
})
