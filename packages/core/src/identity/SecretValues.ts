import { Array as Arr, Context, Effect, Layer, Option, Redacted } from "effect"
import * as Access from "../access/Access.js"
import { bare } from "../access/AccessObjects.js"
import { CurrentActor } from "../access/Actor.js"
import { Encryption, type Sealed } from "../platform/Encryption.js"
import { Forbidden } from "../platform/Errors.js"
import { nil } from "../platform/Uuid.js"
import type { UserId } from "./User.js"
import type { UserSecret } from "./UserSecret.js"
import { type SealedSecret, UserSecretRepository } from "./UserSecretRepository.js"

/** A secret as a workspace gets it. */
export interface DeliveredSecret {
  /** Empty when it becomes no variable. */
  readonly env_name: string
  /** Empty when it becomes no file. */
  readonly file_path: string
  readonly value: Redacted.Redacted<Uint8Array>
}

/** What became of the values that were encrypted with another key. */
export interface Resealing {
  readonly resealed: number
  /** Values that none of the keys opens; they are as they were. */
  readonly unreadable: number
}

/** Values that are held in memory at once. */
const batchSize = 100

/** The place of a value: in another row, or as another user's, it opens no more. */
const placeOf = ({ id, user_id }: Pick<UserSecret, "id" | "user_id">): string => `user_secrets.value/${user_id}/${id}`

const make = Effect.gen(function* () {
  const repository = yield* UserSecretRepository
  const encryption = yield* Encryption

  /** The value, or none where it cannot be read, which is logged. */
  const open = (secret: SealedSecret): Effect.Effect<Option.Option<Uint8Array>> =>
    encryption.open(secret.value, placeOf(secret)).pipe(
      Effect.tapError(({ key_id, reason }) => Effect.logError("a user's secret cannot be read", { secret: secret.id, key_id, reason })),
      Effect.option
    )

  const reseal = (secret: SealedSecret) =>
    Effect.gen(function* () {
      const value = yield* open(secret)
      if (Option.isNone(value)) return "unreadable"
      // Written in the meantime: then with the present key
      return (yield* repository.reseal(secret.id, secret.value, yield* encryption.seal(value.value, placeOf(secret))))
        ? "resealed"
        : "replaced"
    })

  return {
    /** A value as its row stores it. */
    seal: (secret: Pick<UserSecret, "id" | "user_id">, value: Redacted.Redacted<string>): Effect.Effect<Sealed> =>
      encryption.seal(new TextEncoder().encode(Redacted.value(value)), placeOf(secret)),

    /**
     * What the workspaces of the user are given, for one of their agents. A value that cannot be read is left out and logged: the workspace
     * starts without it rather than not at all. Fails with `Forbidden` for anybody else. agents-and-apps.md §14, "Manifest".
     */
    ofAgent: Effect.fn("SecretValues.ofAgent")(function* (ownerId: UserId) {
      const { agentId, userId } = yield* CurrentActor
      if (agentId === undefined || userId !== ownerId) return yield* new Forbidden()
      const found = yield* Effect.forEach(yield* repository.delivered(ownerId), (secret) =>
        Effect.map(
          open(secret),
          Option.map((value): DeliveredSecret => ({
            env_name: secret.env_name,
            file_path: secret.file_path,
            value: Redacted.make(value)
          }))
        )
      )
      return Arr.getSomes(found)
    }),

    /**
     * Encrypts anew, with the first key, every value that another key encrypted: then the other keys can be given up. For whoever may rotate
     * keys. Safe beside requests and beside itself; a call that ends early leaves the rest to the next one.
     */
    reseal: Effect.fn("SecretValues.reseal")(function* () {
      yield* Access.authorize("update", bare("crypto_key"))
      let result: Resealing = { resealed: 0, unreadable: 0 }
      let after = nil
      while (true) {
        const batch = yield* repository.sealedOtherwise(encryption.keyId, after, batchSize)
        const last = batch.at(-1)
        if (last === undefined) return result
        const outcomes = yield* Effect.forEach(batch, reseal)
        result = {
          resealed: result.resealed + outcomes.filter((outcome) => outcome === "resealed").length,
          unreadable: result.unreadable + outcomes.filter((outcome) => outcome === "unreadable").length
        }
        after = last.id
      }
    })
  }
})

/** The values of users' secrets, which only workspace agents are given. */
export class SecretValues extends Context.Tag("@atelier/core/SecretValues")<SecretValues, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(SecretValues, make)
}
