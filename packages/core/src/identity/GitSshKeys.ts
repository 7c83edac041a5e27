import { Context, Effect, Layer, Option } from "effect"
import * as Access from "../access/Access.js"
import { CurrentActor } from "../access/Actor.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { Forbidden, NotFound } from "../platform/Errors.js"
import type { Timestamp } from "../platform/Timestamp.js"
import { GitSshKeyRepository, SshKeyGenerator } from "./GitSshKey.js"
import { type UserId, userObject } from "./User.js"

const make = Effect.gen(function* () {
  const repository = yield* GitSshKeyRepository
  const generator = yield* SshKeyGenerator
  const { ssh_keygen_algorithm } = yield* DeploymentOptions

  return {
    /**
     * The key pair of the user an agent acts for. Fails with `Forbidden` for whoever is no agent, and for an agent that may not touch
     * its owner's data. agents-and-apps.md §8.
     */
    ofAgent: Effect.fn("GitSshKeys.ofAgent")(function* () {
      const { agentId, userId } = yield* CurrentActor
      if (agentId === undefined) return yield* new Forbidden()
      yield* Access.authorize("read_personal", userObject({ id: userId }))
      const pair = yield* repository.pairOf(userId)
      return Option.isSome(pair) ? pair.value : yield* new NotFound({ resource: "git_ssh_key" })
    }),

    /** A new pair, and the write that stores it as the key of a user who is being created: making a pair takes too long for a transaction. */
    prepare: Effect.map(
      generator.generate(ssh_keygen_algorithm),
      ({ private_key, public_key }) =>
        (userId: UserId, now: Timestamp): Effect.Effect<void> =>
          repository.insert({ user_id: userId, created_at: now, updated_at: now, public_key }, private_key)
    )
  }
})

/** The key pairs that workspaces authenticate to git servers with. */
export class GitSshKeys extends Context.Tag("@atelier/core/GitSshKeys")<GitSshKeys, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(GitSshKeys, make)
}
