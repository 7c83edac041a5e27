import { Context, Effect, Option, Redacted } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { openRow } from "../../platform/store/Resealing.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Worker } from "../../platform/background/Worker.js"
import { type GitSshKey, GitSshKeyRepository, SshKeyGenerator, type SshKeyPair } from "./GitSshKey.js"
import { gitSshKeyColumn, sealPlainKeys, sealPrivateKey } from "./GitSshKeySealing.js"
import type { UserId } from "../users/User.js"
import { service } from "../../platform/wiring/Standing.js"

/** A pair that was just made. */
export interface NewSshKeyPair {
  readonly public_key: string
  /** Writes it as the user's key, in place of any other. */
  readonly store: (userId: UserId, now: Timestamp) => Effect.Effect<GitSshKey>
}

/** The methods of {@link GitSshKeyPairs}. */
export interface GitSshKeyPairsService {
  /** A new pair. Making one takes too long for a transaction: it is stored afterwards. */
  readonly generate: Effect.Effect<NewSshKeyPair>

  /** A user's pair; absent before the first one is made, or if it cannot be decrypted, which is logged. Callers have authorized their actors. */
  readonly of: (userId: UserId) => Effect.Effect<Option.Option<SshKeyPair>>

  /** A new pair, and the write that stores it as the key of a user who is being created. */
  readonly prepare: Effect.Effect<(userId: UserId, now: Timestamp) => Effect.Effect<GitSshKey>>

  /** Encrypts private keys that were stored as plain text, also by processes of the former version that still run. */
  readonly sealing: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* GitSshKeyRepository
  const generator = yield* SshKeyGenerator
  const encryption = yield* Encryption
  const { sshKeygenAlgorithm } = yield* DeploymentOptions

  const generate: Effect.Effect<NewSshKeyPair> = Effect.map(generator.generate(sshKeygenAlgorithm), ({ private_key, public_key }) => ({
    public_key,
    store: (userId, now) =>
      Effect.flatMap(sealPrivateKey(encryption, userId, private_key), (sealed) =>
        repository.store({ user_id: userId, created_at: now, updated_at: now, public_key }, sealed)
      )
  }))

  const column = gitSshKeyColumn(repository)

  return {
    generate,

    of: (userId: UserId): Effect.Effect<Option.Option<SshKeyPair>> =>
      Effect.gen(function* () {
        const pair = Option.getOrUndefined(yield* repository.pairOf(userId))
        if (pair === undefined) return Option.none()
        const { private_key, public_key } = pair
        if (!("value" in private_key)) return Option.some({ public_key, private_key: private_key.private_key })
        return Option.map(yield* openRow(encryption, column, private_key), (bytes) => ({
          public_key,
          private_key: Redacted.make(new TextDecoder().decode(bytes))
        }))
      }),

    prepare: Effect.map(generate, ({ store }) => store),

    sealing: {
      name: "seal-git-keys",
      every: "1 hour",
      run: Effect.gen(function* () {
        const sealed = yield* sealPlainKeys(encryption, repository)
        if (sealed > 0) yield* Effect.logInfo(`encrypted ${sealed} keys for git`)
      })
    } satisfies Worker<never>
  }
})

/** Key pairs for git, and how they are stored. */
export class GitSshKeyPairs extends Context.Tag("@atelier/core/GitSshKeyPairs")<GitSshKeyPairs, GitSshKeyPairsService>() {
  static readonly layer = service(GitSshKeyPairs, make)
}
