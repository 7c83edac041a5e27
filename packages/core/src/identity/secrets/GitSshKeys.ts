import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/Actor.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { Encryption } from "../../platform/Encryption.js"
import { Forbidden, NotFound } from "../../platform/Errors.js"
import { openRow } from "../../platform/Resealing.js"
import type { Timestamp } from "../../platform/Timestamp.js"
import type { Worker } from "../../platform/Worker.js"
import { type GitSshKey, GitSshKeyRepository, SshKeyGenerator, type SshKeyPair, type StoredSshKeyPair } from "./GitSshKey.js"
import { gitSshKeyColumn, sealPlainKeys, sealPrivateKey } from "./GitSshKeySealing.js"
import type { UserId } from "../users/User.js"

/** A pair that was just made. */
export interface NewSshKeyPair {
  readonly public_key: string
  /** Writes it as the user's key, in place of any other. */
  readonly store: (userId: UserId, now: Timestamp) => Effect.Effect<GitSshKey>
}

const make = Effect.gen(function* () {
  const repository = yield* GitSshKeyRepository
  const generator = yield* SshKeyGenerator
  const encryption = yield* Encryption
  const { ssh_keygen_algorithm } = yield* DeploymentOptions
  const column = gitSshKeyColumn(repository)

  const privateKeyOf = ({ private_key }: StoredSshKeyPair): Effect.Effect<Option.Option<SshKeyPair["private_key"]>> =>
    "value" in private_key
      ? Effect.map(
          openRow(encryption, column, private_key),
          Option.map((value) => Redacted.make(new TextDecoder().decode(value)))
        )
      : Effect.succeedSome(private_key.private_key)

  /** A new pair. Making one takes too long for a transaction: it is stored afterwards. */
  const generate: Effect.Effect<NewSshKeyPair> = Effect.map(generator.generate(ssh_keygen_algorithm), ({ private_key, public_key }) => ({
    public_key,
    store: (userId, now) =>
      Effect.flatMap(sealPrivateKey(encryption, userId, private_key), (sealed) =>
        repository.store({ user_id: userId, created_at: now, updated_at: now, public_key }, sealed)
      )
  }))

  return {
    /**
     * The key pair of the user an agent acts for. Fails with `Forbidden` for whoever is no agent, and for an agent that may not touch
     * its owner's data; with `NotFound` where there is none, or none that can be read, which is logged. agents-and-apps.md §8.
     */
    ofAgent: Effect.fn("GitSshKeys.ofAgent")(function* () {
      const { agentId, userId } = yield* CurrentActor
      if (agentId === undefined) return yield* new Forbidden()
      yield* Access.authorize("read_personal", AccessObjects.user({ id: userId }))
      const missing = new NotFound({ resource: "git_ssh_key" })
      const stored = yield* repository.pairOf(userId)
      if (Option.isNone(stored)) return yield* missing
      const private_key = yield* privateKeyOf(stored.value)
      if (Option.isNone(private_key)) return yield* missing
      const pair: SshKeyPair = { public_key: stored.value.public_key, private_key: private_key.value }
      return pair
    }),

    generate,

    /** A new pair, and the write that stores it as the key of a user who is being created. */
    prepare: Effect.map(generate, ({ store }) => store),

    /** Encrypts what was stored before private halves were, also by processes of the version before that run meanwhile. */
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

/** The key pairs that workspaces authenticate to git servers with. */
export class GitSshKeys extends Context.Tag("@atelier/core/GitSshKeys")<GitSshKeys, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(GitSshKeys, make)
}
