import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "./UserAudit.js"
import { pictureViolation } from "../../platform/texts/Address.js"
import { Conflict, Forbidden, InUse, Invalid, NotFound, refuseViolations, validationsOf } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { accountWrite, lockedAccount, refuseSystem, requireAnotherOwner, requireCurrentRole } from "./Account.js"
import { AccountNotifications } from "./AccountNotifications.js"
import { AccountRepository } from "./AccountRepository.js"
import { type UserWithOrganizations, ownerRole, profileViolations, type User } from "./User.js"
import { UserDeletionRepository } from "./UserDeletionRepository.js"
import { UserRepository } from "./UserRepository.js"
import { Users } from "./Users.js"
import { statusTransitions } from "./UserStatus.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** A whole profile: fields that are absent on the wire are empty here, and are cleared. */
export type Profile = Pick<User, "username" | "name" | "avatar_url">

/** The longest address of a picture, in characters. */
const maximumAvatarLength = 2048

/** The rules that a profile breaks, one entry per field. */
const violations = ({ avatar_url, name, username }: Profile, { email }: User) => [
  ...profileViolations({ email, username, name }).filter(({ field }) => field !== "email"),
  ...validationsOf({ avatar_url: pictureViolation(avatar_url, maximumAvatarLength) })
]

const taken = new Conflict({
  message: "A user with this username already exists.",
  validations: [{ field: "username", detail: "is taken" }]
})

/** The methods of {@link Accounts}. */
export interface AccountsService {
  /**
   * Replaces the names and the picture of a user. Users who log in at a provider keep its picture. Fails with `Invalid` by the rules of a
   * profile, which are checked first; `NotFound` if the actor may not change the user's personal data or its username; `Conflict` for a
   * taken username; and `Forbidden` for the service's own users. identity.md §8.7.
   */
  readonly updateProfile: (
    reference: string,
    profile: Profile
  ) => Effect.Effect<UserWithOrganizations, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Makes a user active from any status: its keys work again. Fails with `Forbidden` if the actor may not manage users, and for the
   * service's own users. identity.md §9.
   */
  readonly activate: (reference: string) => Effect.Effect<UserWithOrganizations, Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Suspends a user: its keys stay and are refused from the next request on. Fails with `Forbidden` if the actor may not manage users and
   * for the service's own users, `Conflict` for the last owner, and `Invalid` for another owner and for the actor itself. identity.md §9.
   */
  readonly suspend: (
    reference: string
  ) => Effect.Effect<UserWithOrganizations, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Deletes a user: its sessions and tokens are refused from now on, its name and address are free. Fails with `Forbidden` for the actor
   * itself, for the service's own users and without the permission, with `InUse` for a user that has workspaces, even ones that the actor
   * cannot see, and with `Conflict` for the last owner. identity.md §8.4, §8.5.
   */
  readonly delete: (reference: string) => Effect.Effect<undefined, Forbidden | NotFound | Conflict | InUse, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const repository = yield* UserRepository
  const deletions = yield* UserDeletionRepository
  const notifications = yield* AccountNotifications

  /**
   * Users cannot suspend themselves, and an owner must lose the role first: a user who can undo the suspension always remains. identity.md
   * §8.5.
   */
  const guardSuspension = (user: User) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentActor
      yield* requireAnotherOwner(accounts, user, "suspended")
      if (user.id === userId) return yield* new Invalid({ message: "You cannot suspend yourself." })
      if (user.rbac_roles.includes(ownerRole)) {
        return yield* new Invalid({ message: "An owner cannot be suspended: the role has to be taken away first." })
      }
    })

  const changeStatus = <E, R>(reference: string, event: "activate" | "suspend", guard: (user: User) => Effect.Effect<void, E, R>) =>
    Effect.gen(function* () {
      const user = yield* users.get(reference)
      const after = yield* Audit.audited(
        accountWrite(user),
        Effect.gen(function* () {
          const before = yield* lockedAccount(accounts, user.id)
          yield* Access.authorizeWrite("update", AccessObjects.user(before))
          yield* refuseSystem(before)
          yield* guard(before)
          const status = statusTransitions[before.status][event]
          if (status === before.status) return { value: before, before, after: before }
          const updated_at = yield* Timestamp.now
          yield* repository.updateStatus(before.id, before.status, status, updated_at)
          const value: User = { ...before, status, updated_at }
          yield* event === "suspend" ? notifications.suspended(value) : notifications.activated(value)
          return { value, before, after: value }
        })
      )
      return { ...after, organization_ids: user.organization_ids }
    })

  return {
    updateProfile: Traced.fn("Accounts.updateProfile")(function* (reference: string, profile: Profile) {
      const user = yield* users.get(reference)
      const after = yield* Audit.audited(
        accountWrite(user),
        Effect.gen(function* () {
          const before = yield* lockedAccount(accounts, user.id)
          yield* refuseViolations(violations(profile, before))
          yield* Access.authorizeOrHide("update_personal", AccessObjects.user(before))
          if (profile.username !== before.username) yield* Access.authorizeOrHide("update", AccessObjects.user(before))
          yield* refuseSystem(before)
          const isOwnPicture = before.login_type === "password" || before.login_type === "none"
          const avatar_url = isOwnPicture ? profile.avatar_url : before.avatar_url
          const value: User = { ...before, ...profile, avatar_url, updated_at: yield* Timestamp.now }
          yield* Effect.mapError(accounts.updateProfile(value), () => taken)
          return { value, before, after: value }
        })
      )
      return { ...after, organization_ids: user.organization_ids }
    }),

    activate: Traced.fn("Accounts.activate")((reference: string) => changeStatus(reference, "activate", () => Effect.void)),

    suspend: Traced.fn("Accounts.suspend")((reference: string) => changeStatus(reference, "suspend", guardSuspension)),

    delete: Traced.fn("Accounts.delete")(function* (reference: string) {
      const user = yield* users.get(reference)
      if (user.deleted) return yield* new NotFound({ resource: "user" })
      yield* Audit.audited(
        { action: "delete", resource: userAudit, id: user.id, target: user.username },
        Effect.gen(function* () {
          // The lock keeps workspaces from being added
          const { userId } = yield* CurrentActor
          const locked = yield* accounts.lock([user.id, userId])
          const before = locked.find(({ id }) => id === user.id)
          if (before === undefined) return yield* new NotFound({ resource: "user" })
          if (before.id !== userId) yield* Access.authorize("delete", AccessObjects.user(before))
          yield* refuseSystem(before)
          yield* requireAnotherOwner(accounts, before, "deleted")
          if (before.id === userId) return yield* new Forbidden({ message: "You cannot delete yourself." })
          if (yield* deletions.ownsWorkspace(before.id)) {
            return yield* new InUse({ message: "A user who has workspaces cannot be deleted. Delete the workspaces first." })
          }
          if (before.rbac_roles.includes(ownerRole)) yield* requireCurrentRole(locked)
          yield* deletions.delete(before.id, yield* Timestamp.now)
          yield* notifications.deleted(before)
          return { value: undefined, before, after: { ...before, deleted: true } }
        })
      )
    })
  }
})

/** What changes of a user's account: its public profile, its status, its end. */
export class Accounts extends Context.Tag("@atelier/core/Accounts")<Accounts, AccountsService>() {
  static readonly layer = standingOn(service(Accounts, make), Users.layer, AccountNotifications.layer)
}
