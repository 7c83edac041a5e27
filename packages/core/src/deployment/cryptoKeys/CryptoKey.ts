/** Keys that the deployment shares with its workspace proxies. agents-and-apps.md §20. */
import { Context, Duration, type Effect, Schema } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { SealedColumn } from "../../platform/store/Resealing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** What a key is for: signed tokens of apps, or the keys that bring a session to an app's host. */
export const CryptoKeyFeature = Schema.Literal("workspace_apps_token", "workspace_apps_api_key").annotations({
  identifier: "CryptoKeyFeature"
})
export type CryptoKeyFeature = typeof CryptoKeyFeature.Type

/** Bytes of a feature's secrets. */
export const secretSizes: Readonly<Record<CryptoKeyFeature, number>> = { workspace_apps_token: 64, workspace_apps_api_key: 32 }

/** A key without its secret. */
export interface CryptoKey {
  readonly id: Uuid
  readonly feature: CryptoKeyFeature
  /** From 1, without gaps in a feature. */
  readonly sequence: number
  readonly starts_at: Timestamp.Timestamp
  /** When the secret is wiped; null for a key without a successor. */
  readonly deletes_at: Timestamp.Timestamp | null
}

export interface StoredCryptoKey extends CryptoKey {
  /** Null once wiped. */
  readonly secret: Sealed | null
}

/** How long a key signs. */
const lifetime = Duration.days(30)

/** The successor is made so long before the end, so that every process has read it when it begins. */
const lead = Duration.hours(1)

/** A successor that is made late begins at the earliest after this time. */
const notice = Duration.minutes(30)

/** A key verifies so long after its successor has begun: an hour, and the minute of the last token. */
const grace = Duration.minutes(61)

/** When the key that follows the newest one begins; undefined while none is due. */
export const successorStart = (newest: CryptoKey | undefined, now: Timestamp.Timestamp): Timestamp.Timestamp | undefined => {
  if (newest === undefined || newest.deletes_at !== null) return now
  const end = Timestamp.plus(newest.starts_at, lifetime)
  if (end > Timestamp.plus(now, lead)) return undefined
  const earliest = Timestamp.plus(now, notice)
  return end > earliest ? end : earliest
}

/** When the secret of a key is wiped that this successor follows. */
export const deletionOf = (successor: CryptoKey): Timestamp.Timestamp => Timestamp.plus(successor.starts_at, grace)

export class CryptoKeyRepository extends Context.Tag("@atelier/core/CryptoKeyRepository")<
  CryptoKeyRepository,
  {
    /** Of a feature, in the order of their sequence. */
    readonly ofFeature: (feature: CryptoKeyFeature) => Effect.Effect<ReadonlyArray<StoredCryptoKey>>
    /** Stores a key unless another process has stored one of the same sequence. */
    readonly insert: (key: StoredCryptoKey) => Effect.Effect<void>
    /** Says when the secret is wiped, if nothing has said so. */
    readonly retire: (id: Uuid, at: Timestamp.Timestamp) => Effect.Effect<void>
    /** Wipes the secrets of keys that are due. */
    readonly wipe: (now: Timestamp.Timestamp) => Effect.Effect<void>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
    /** The ids of the encryption keys that the newest and the oldest values of each table need. */
    readonly encryptionKeyIds: Effect.Effect<ReadonlyArray<string>>
  }
>() {}

/** The column that stores secrets, for the replacement of encryption keys. */
export const cryptoKeyColumn = ({ reseal, sealedOtherwise }: CryptoKeyRepository["Type"]): SealedColumn => ({
  name: "a signing key",
  placeOf: ({ id }) => `crypto_keys.secret/${id}`,
  sealedOtherwise,
  reseal
})
