/** Encryption keys that stored values need and the process was not given. */
import { Effect } from "effect"
import * as Background from "../../platform/background/Background.js"
import * as Worker from "../../platform/background/Worker.js"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { CryptoKeyRepository } from "./CryptoKey.js"

/** Returns an effect that answers the ids of the keys that stored values need and this process does not have. It looks at some values of each table. */
export const missingKeys = Effect.gen(function* () {
  const { encryptionKeyIds } = yield* CryptoKeyRepository
  const { has } = yield* Encryption
  return Effect.flatMap(
    encryptionKeyIds,
    Effect.filter((id) => Effect.negate(has(id)))
  )
})

/** What the operator is told about a key that is missing. */
export const missingKeyText = (id: string): string =>
  `Stored secrets are encrypted with the key ${id}, which this server does not have. Start it with that key too, in external-token-encryption-keys.`

/** Logs the keys that are missing, once work in the background may begin. Of several processes, the one whose turn it is does so. */
export const warnOfMissingKeys = Effect.gen(function* () {
  const missing = yield* missingKeys
  const { isHere } = yield* Worker.RunsHere
  const warn = Effect.flatMap(
    missing,
    Effect.forEach((id) => Effect.logError(missingKeyText(id), { key_id: id }), { discard: true })
  )
  const look = Effect.catchAllCause(warn, (cause) =>
    Effect.logWarning("the encryption keys of stored values could not be looked at", cause)
  )
  if (isHere()) yield* Background.forkIn("encryption_keys", yield* Effect.scope, Effect.zipRight(Worker.begun, look))
})
