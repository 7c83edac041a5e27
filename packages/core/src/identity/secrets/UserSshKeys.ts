import { Context, Effect, Layer, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { NotFound } from "../../platform/Errors.js"
import { makeKeyedLock } from "../../platform/KeyedLock.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { lockedAccount, refuseSystem } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { GitSshKeyRepository } from "./GitSshKey.js"
import { GitSshKeys } from "./GitSshKeys.js"
import type { UserId } from "../users/User.js"
import { Users } from "../users/Users.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const keys = yield* GitSshKeys
  const repository = yield* GitSshKeyRepository
  // Making one may take seconds, and everybody waits for the same generator: whoever asks for many waits behind the others
  const oneAtATime = makeKeyedLock<UserId>()

  return {
    /** A user's public key. Fails with `NotFound` for whoever may not read its personal data. identity.md §8.7. */
    get: Effect.fn("UserSshKeys.get")(function* (reference: string) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      const key = yield* repository.ofUser(user.id)
      return Option.isSome(key) ? key.value : yield* new NotFound({ resource: "git_ssh_key" })
    }),

    /**
     * Replaces a user's key by a new pair; workspaces are given it from now on. Fails with `NotFound` for whoever may not change the user's
     * personal data, and `Forbidden` for the service's own users. identity.md §8.7.
     */
    regenerate: Effect.fn("UserSshKeys.regenerate")(function* (reference: string) {
      const user = yield* users.get(reference)
      const subject = (target: string): Audit.Subject => ({ action: "write", type: "git_ssh_key", id: user.id, target: target.trimEnd() })
      const pair = yield* Effect.gen(function* () {
        yield* Access.authorizeOrHide("update_personal", AccessObjects.user(user))
        yield* refuseSystem(user)
        if (user.deleted) return yield* new NotFound({ resource: "user" })
        const { userId } = yield* CurrentActor
        return yield* oneAtATime(userId)(keys.generate)
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

/** Users' keys for git, as their holders see and change them. */
export class UserSshKeys extends Context.Tag("@atelier/core/UserSshKeys")<UserSshKeys, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(UserSshKeys, make)
}
