import { Context, Effect, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { Ids } from "../../platform/Ids.js"
import { openRow } from "../../platform/store/Resealing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil } from "../../platform/texts/Uuid.js"
import {
  type CryptoKey,
  cryptoKeyColumn,
  CryptoKeyFeature,
  CryptoKeyRepository,
  deletionOf,
  secretSizes,
  successorStart
} from "./CryptoKey.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Forbidden } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Worker } from "../../platform/background/Worker.js"

/** A key with its secret. */
export interface OpenCryptoKey extends CryptoKey {
  readonly secret: Redacted.Redacted<Uint8Array>
}

const object = AccessObjects.bare("crypto_key")

/** The methods of {@link CryptoKeys}. */
export interface CryptoKeysService {
  /** Makes the keys that are due, and wipes those that are over. Fails with `Forbidden` if the actor may not create keys. */
  readonly rotate: Effect.Effect<void, Forbidden, CurrentActor>

  /**
   * Returns the keys that verify, newest first, also those that have not begun. The first call of a deployment makes the first key. Fails
   * with `Forbidden` if the actor may not read keys.
   */
  readonly verifying: (feature: CryptoKeyFeature) => Effect.Effect<ReadonlyArray<OpenCryptoKey>, Forbidden, CurrentActor>

  /** Rotates keys. agents-and-apps.md §20. */
  readonly worker: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* CryptoKeyRepository
  const encryption = yield* Encryption
  const { randomBytes } = yield* Cryptography
  const ids = yield* Ids
  const column = cryptoKeyColumn(repository)

  /** Safe beside itself: the first process that stores a sequence wins, and the others use its key. */
  const rotateFeature = (feature: CryptoKeyFeature) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const newest = (yield* repository.ofFeature(feature)).at(-1)
      const starts_at = successorStart(newest, now)
      if (starts_at !== undefined) {
        const id = yield* ids.next
        const secret = yield* encryption.seal(yield* randomBytes(secretSizes[feature]), column.placeOf({ id, user_id: nil }))
        yield* repository.insert({ id, feature, sequence: (newest?.sequence ?? 0) + 1, starts_at, deletes_at: null, secret })
      }
      const keys = yield* repository.ofFeature(feature)
      yield* Effect.forEach(
        keys,
        (key, at) => {
          const successor = keys[at + 1]
          return successor === undefined || key.deletes_at !== null ? Effect.void : repository.retire(key.id, deletionOf(successor))
        },
        { discard: true }
      )
    })

  const rotate = Effect.gen(function* () {
    yield* Access.authorize("create", object)
    yield* Effect.forEach(CryptoKeyFeature.literals, rotateFeature, { discard: true })
    yield* repository.wipe(yield* Timestamp.now)
  })

  const opened = (feature: CryptoKeyFeature) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const found: Array<OpenCryptoKey> = []
      for (const { secret, ...key } of yield* repository.ofFeature(feature)) {
        if (secret === null || (key.deletes_at !== null && key.deletes_at <= now)) continue
        const value = yield* openRow(encryption, column, { id: key.id, user_id: nil, value: secret })
        if (value._tag === "Some") found.unshift({ ...key, secret: Redacted.make(value.value) })
      }
      return found
    })

  return {
    rotate,

    verifying: Traced.fn("CryptoKeys.verifying")(function* (feature: CryptoKeyFeature) {
      yield* Access.authorize("read", object)
      const found = yield* opened(feature)
      if (found.length > 0) return found
      yield* rotateFeature(feature)
      return yield* opened(feature)
    }),

    worker: {
      name: "crypto_key_rotation",
      every: "10 minutes" as const,
      run: Effect.orDie(Access.actingAs(SystemActor.cryptoKeyRotator)(rotate))
    }
  }
})

/** Keys that the deployment shares with its workspace proxies, and their rotation. */
export class CryptoKeys extends Context.Tag("@atelier/core/CryptoKeys")<CryptoKeys, CryptoKeysService>() {
  static readonly layer = service(CryptoKeys, make)
}
