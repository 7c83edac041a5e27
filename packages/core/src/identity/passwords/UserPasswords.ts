import { Context, Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { Conflict, Invalid, NotFound, type Forbidden } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { accountWrite, isOwner, lockedAccount, refuseSystem } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { violation } from "./Password.js"
import { PasswordHasher } from "./PasswordHasher.js"
import { ownerRole, type User } from "../users/User.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** A new password, and the one in use; fields that are absent on the wire are empty here. */
export interface PasswordChange {
  readonly password: Redacted.Redacted<string>
  readonly old_password: Redacted.Redacted<string>
}

/** Whether a password may be used, and otherwise what would make it better. */
export interface PasswordVerdict {
  readonly valid: boolean
  readonly details: string
}

const isEmpty = (secret: Redacted.Redacted<string>): boolean => Redacted.value(secret) === ""

/** The methods of {@link UserPasswords}. */
export interface UserPasswordsService {
  /**
   * Changes a user's password, which ends all sessions and deletes all tokens of the user, the actor's own too. Fails with `NotFound` if
   * the actor may not change the user's personal data, `Forbidden` for the service's own users, `Invalid` by the rules of identity.md
   * §6.4, and `Conflict` if the password changes concurrently.
   */
  readonly change: (
    reference: string,
    change: PasswordChange
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Whether a password is strong enough. Needs no authentication and stores nothing. identity.md §6.3. */
  readonly validate: (password: Redacted.Redacted<string>) => Effect.Effect<{ readonly valid: boolean; readonly details: string }, Invalid>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const hasher = yield* PasswordHasher

  /** Only an owner resets an owner's password. identity.md §8.5. */
  const guard = (user: User) =>
    Effect.gen(function* () {
      const { subject, userId } = yield* CurrentActor
      if (user.rbac_roles.includes(ownerRole) && user.id !== userId && !isOwner(subject)) {
        return yield* new Invalid({ message: "Only an owner can change the password of an owner." })
      }
    })

  /** The hashes in use and to be used, of a change that nothing stands against. The order of the rules is that of identity.md §6.4. */
  const accept = (user: User, { old_password, password }: PasswordChange) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentActor
      yield* Access.authorizeOrHide("update_personal", AccessObjects.user(user))
      yield* Access.refuseApps
      yield* refuseSystem(user)
      yield* guard(user)
      if (isEmpty(password)) return yield* Invalid.field("password", "is required")
      if (user.login_type !== "password") return yield* new Invalid({ message: "This account does not log in with a password." })
      if (user.id === userId && isEmpty(old_password))
        return yield* Invalid.field("old_password", "is required to change your own password")
      const weakness = violation(Redacted.value(password))
      if (weakness !== undefined) return yield* Invalid.field("password", weakness, "The password is not strong enough.")

      const found = yield* accounts.hashedPassword(user.id)
      if (Option.isNone(found)) return yield* new NotFound({ resource: "user" })
      const current = found.value
      if (!isEmpty(old_password) && !(yield* hasher.verify(old_password, current))) {
        return yield* Invalid.field("old_password", "is not the password in use")
      }
      if (yield* hasher.verify(password, current)) return yield* new Invalid({ message: "New password cannot match old password." })
      return { current, next: yield* hasher.hash(password) }
    })

  return {
    change: Traced.fn("UserPasswords.change")(function* (reference: string, change: PasswordChange) {
      const user = yield* users.get(reference)
      const subject = accountWrite(user)
      // A hash takes too long for a transaction
      const { current, next } = yield* Effect.tapError(accept(user, change), (error) => Audit.recordFailure(subject, Option.some(error)))
      yield* Audit.audited(
        subject,
        Effect.gen(function* () {
          const account = yield* lockedAccount(accounts, user.id)
          yield* guard(account)
          const inUse = yield* accounts.hashedPassword(user.id)
          if (Option.getOrNull(inUse) !== current) return yield* new Conflict({ message: "The password has just been changed." })
          yield* accounts.updatePassword(user.id, next, yield* Timestamp.now)
          return { value: undefined, before: { ...account, hashed_password: current }, after: { ...account, hashed_password: next } }
        })
      )
    }),

    validate: Traced.fn("UserPasswords.validate")(function* (password: Redacted.Redacted<string>) {
      if (isEmpty(password)) return yield* Invalid.field("password", "is required")
      const details = violation(Redacted.value(password))
      return { valid: details === undefined, details: details ?? "" } satisfies PasswordVerdict
    })
  }
})

/** The passwords of those who log in with one. */
export class UserPasswords extends Context.Tag("@atelier/core/UserPasswords")<UserPasswords, UserPasswordsService>() {
  static readonly layer = standingOn(service(UserPasswords, make), Users.layer)
}
