/** The private halves of keys for git, encrypted. */
import { Effect, Redacted } from "effect"
import type { Encryption, Sealed } from "../../platform/secrets/Encryption.js"
import * as Background from "../../platform/background/Background.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { SealedColumn } from "../../platform/store/Resealing.js"
import type { GitSshKeyRepository, PlainPrivateKey } from "./GitSshKey.js"
import type { UserId } from "../users/User.js"

/** Keys that are held in memory at once. */
const batchSize = 100

const placeOf: SealedColumn["placeOf"] = ({ user_id }) => `git_ssh_keys.private_key/${user_id}`

export const gitSshKeyColumn = ({ reseal, sealedOtherwise }: GitSshKeyRepository["Type"]): SealedColumn => ({
  name: "a user's key for git",
  placeOf,
  sealedOtherwise,
  reseal
})

/** A private half as the user's row stores it. */
export const sealPrivateKey = (
  { seal }: Encryption["Type"],
  userId: UserId,
  privateKey: Redacted.Redacted<string>
): Effect.Effect<Sealed> => seal(new TextEncoder().encode(Redacted.value(privateKey)), placeOf({ id: userId, user_id: userId }))

/**
 * Encrypts the private halves that were stored before they were, and answers how many. Safe beside requests and beside itself. A key that cannot be
 * stored does not keep the others, and fails the call.
 */
export const sealPlainKeys = (encryption: Encryption["Type"], repository: GitSshKeyRepository["Type"]): Effect.Effect<number> => {
  const seal = (key: PlainPrivateKey) =>
    Effect.flatMap(sealPrivateKey(encryption, key.user_id, key.private_key), (sealed) => repository.seal(key, sealed))
  return Effect.gen(function* () {
    let count = 0
    let failed: Effect.Effect<void> = Effect.void
    let after: UserId = nil
    while (true) {
      const batch = yield* repository.plain(after, batchSize)
      const last = batch.at(-1)
      if (last === undefined) return yield* Effect.as(failed, count)
      const { answers, failure } = yield* Background.tryEach(batch, seal)
      count += answers.filter((isSealed) => isSealed).length
      failed = Effect.zipRight(failed, failure)
      after = last.user_id
    }
  })
}
