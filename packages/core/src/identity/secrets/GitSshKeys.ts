import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { audited, auditedResource, ignored, secret } from "../../audit/AuditedResource.js"
import { Forbidden, NotFound } from "../../platform/Errors.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { lockedAccount, refuseSystem } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { GitSshKeyRepository, type SshKeyPair, type GitSshKey } from "./GitSshKey.js"
import { GitSshKeyPairs } from "./GitSshKeyPairs.js"
import type { UserId } from "../users/User.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

const keyAudit = auditedResource<GitSshKey & { readonly private_key: string }>({
  type: "git_ssh_key",
  endsRightsOf: "none",
  fields: { user_id: audited, created_at: ignored, updated_at: ignored, public_key: audited, private_key: secret }
})

/** The methods of {@link GitSshKeys}. */
export interface GitSshKeysService {
  /**
   * The key pair of the agent's owner. Fails with `Forbidden` if the actor is not an agent or the agent may not read its owner's data,
   * and with `NotFound` if the key is missing or cannot be decrypted, which is logged. agents-and-apps.md §8.
   */
  readonly ofAgent: () => Effect.Effect<SshKeyPair, Forbidden | NotFound, CurrentActor>

  /** A user's public key. Fails with `NotFound` if the actor may not read the user's personal data. identity.md §8.7. */
  readonly get: (reference: string) => Effect.Effect<GitSshKey, NotFound, CurrentActor>

  /**
   * Replaces a user's key by a new pair, which workspaces are given from now on. Fails with `NotFound` if the actor may not change the
   * user's personal data, and with `Forbidden` for the service's own users. identity.md §8.7.
   */
  readonly regenerate: (reference: string) => Effect.Effect<GitSshKey, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const pairs = yield* GitSshKeyPairs
  const repository = yield* GitSshKeyRepository
  // Generating a key pair may take seconds, and all users share one generator: a user's own requests wait for each other
  const oneAtATime = makeKeyedLock<UserId>()

  return {
    ofAgent: Traced.fn("GitSshKeys.ofAgent")(function* () {
      const { agentId, userId } = yield* CurrentActor
      if (agentId === undefined) return yield* new Forbidden()
      yield* Access.authorize("read_personal", AccessObjects.user({ id: userId }))
      const pair = yield* pairs.of(userId)
      return Option.isSome(pair) ? pair.value : yield* new NotFound({ resource: "git_ssh_key" })
    }),

    get: Traced.fn("GitSshKeys.get")(function* (reference: string) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      const key = yield* repository.ofUser(user.id)
      return Option.isSome(key) ? key.value : yield* new NotFound({ resource: "git_ssh_key" })
    }),

    regenerate: Traced.fn("GitSshKeys.regenerate")(function* (reference: string) {
      const user = yield* users.get(reference)
      const subject = (target: string) => ({ action: "write", resource: keyAudit, id: user.id, target: target.trimEnd() }) as const
      const pair = yield* Effect.gen(function* () {
        yield* Access.authorizeOrHide("update_personal", AccessObjects.user(user))
        yield* refuseSystem(user)
        if (user.deleted) return yield* new NotFound({ resource: "user" })
        const { userId } = yield* CurrentActor
        return yield* oneAtATime(userId)(pairs.generate)
      }).pipe(
        Effect.tapError((error) =>
          Effect.flatMap(repository.ofUser(user.id), (key) =>
            Audit.recordFailure(subject(Option.isSome(key) ? key.value.public_key : ""), Option.some(error))
          )
        )
      )
      return yield* Audit.audited(
        subject(pair.public_key),
        Effect.gen(function* () {
          yield* lockedAccount(accounts, user.id)
          const before = Option.getOrUndefined(yield* repository.ofUser(user.id))
          const value = yield* pair.store(user.id, yield* Timestamp.now)
          return {
            value,
            before: before === undefined ? undefined : { ...before, private_key: "old" },
            after: { ...value, private_key: "new" }
          }
        })
      )
    })
  }
})

/** Users' keys for git, as their holders see and change them, and agents are given them. */
export class GitSshKeys extends Context.Tag("@atelier/core/GitSshKeys")<GitSshKeys, GitSshKeysService>() {
  static readonly layer = standingOn(service(GitSshKeys, make), Users.layer, GitSshKeyPairs.layer)
}
