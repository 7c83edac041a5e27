import { DeploymentValues } from "@atelier/core/deployment"
import { ProcessGroup } from "@atelier/core/insights"
import { Cryptography, Encryption, service, StartError, Undecipherable } from "@atelier/core/platform"
import { Effect, type Layer, Option } from "effect"
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from "node:crypto"

const algorithm = "aes-256-gcm"

/** Bytes of a key. */
const keyLength = 32

/** Bytes; NIST SP 800-38D §8.2.2: random ones are good for 2³² values under one key. */
const nonceLength = 12

/** Bytes at the end of a ciphertext. */
const tagLength = 16

/** A key that values are encrypted with. Printing one shows nothing of it. */
export interface EncryptionKey {
  readonly id: string
  readonly key: KeyObject
}

const keyOf = (bytes: Uint8Array): EncryptionKey => ({
  id: createHash("sha256").update("atelier encryption key\0").update(bytes).digest("hex").slice(0, 16),
  key: createSecretKey(bytes)
})

/** Reads a key: 32 bytes in base64, as `openssl rand -base64 32` prints them. Throws a `StartError` that does not show the text. */
export const parseKey = (text: string): EncryptionKey => {
  const bytes = Buffer.from(text, "base64")
  if (bytes.length !== keyLength || bytes.toString("base64") !== text.trim()) {
    throw new StartError({ option: "options.externalTokenEncryptionKeys", reason: `each key must be ${keyLength} bytes in base64` })
  }
  return keyOf(bytes)
}

/** Where the key of a deployment that is given none is kept, among the values of the deployment. */
export const storedKey = "encryption_key"

/**
 * AES-256-GCM. The first key encrypts, all of them decrypt. A deployment that is given no key makes one and keeps it in its store; what was
 * encrypted with that one can be read ever after.
 */
export const layer = (keys: ReadonlyArray<EncryptionKey> = []): Layer.Layer<Encryption, never, DeploymentValues | Cryptography> =>
  service(
    Encryption,
    Effect.gen(function* () {
      const values = yield* DeploymentValues
      const cryptography = yield* Cryptography

      const group = yield* ProcessGroup

      const makeStored = Effect.gen(function* () {
        const fresh = Buffer.from(yield* cryptography.randomBytes(keyLength)).toString("base64")
        // The first of several processes says it for all of them
        if ((group?.number ?? 1) === 1)
          yield* Effect.logInfo("no encryption key is given: the one in use is kept in the store, beside what it encrypts")
        return parseKey(yield* values.getOrInsert(storedKey, fresh))
      })
      const current = keys[0] ?? (yield* makeStored)
      const known = new Map([current, ...keys].map((key) => [key.id, key]))

      /** Another process, which is given no key, may have made the stored one at any time. */
      const keyOfId = (id: string) =>
        Effect.gen(function* () {
          const key = known.get(id)
          if (key !== undefined) return Option.some(key)
          const stored = Option.filter(Option.map(yield* values.get(storedKey), parseKey), (one) => one.id === id)
          if (Option.isSome(stored)) known.set(id, stored.value)
          return stored
        })

      return Encryption.of({
        keyId: current.id,
        seal: (plaintext, place) =>
          Effect.sync(() => {
            const nonce = randomBytes(nonceLength)
            const cipher = createCipheriv(algorithm, current.key, nonce, { authTagLength: tagLength }).setAAD(Buffer.from(place))
            const ciphertext = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
            return { key_id: current.id, ciphertext: new Uint8Array(ciphertext) }
          }),
        open: ({ ciphertext, key_id }, place) =>
          Effect.gen(function* () {
            const found = yield* keyOfId(key_id)
            if (Option.isNone(found)) return yield* new Undecipherable({ key_id, reason: "unknown key" })
            const { key } = found.value
            return yield* Effect.try({
              try: () => {
                const nonce = ciphertext.subarray(0, nonceLength)
                const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
                  .setAAD(Buffer.from(place))
                  .setAuthTag(ciphertext.subarray(Math.max(nonceLength, ciphertext.length - tagLength)))
                const encrypted = ciphertext.subarray(nonceLength, -tagLength)
                return new Uint8Array(Buffer.concat([decipher.update(encrypted), decipher.final()]))
              },
              catch: () => new Undecipherable({ key_id, reason: "not authentic" })
            })
          }),
        has: (keyId) => Effect.map(keyOfId(keyId), Option.isSome)
      })
    })
  )
