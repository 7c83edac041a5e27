import { Context, Effect, Layer } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { Invalid } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { accountWrite, lockedAccount, refuseSystem, requireAnotherOwner } from "./Account.js"
import { AccountNotifications } from "./AccountNotifications.js"
import { AccountRepository } from "./AccountRepository.js"
import { ownerRole, type User } from "./User.js"
import { UserRepository } from "./UserRepository.js"
import { Users } from "./Users.js"
import { statusTransitions } from "./UserStatus.js"
import { standingOn } from "../../platform/Standing.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const repository = yield* UserRepository
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

  const change = <E, R>(reference: string, event: "activate" | "suspend", guard: (user: User) => Effect.Effect<void, E, R>) =>
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
    /**
     * Makes a user active from any status: its keys work again. Fails with `Forbidden` if the actor may not manage users, and for the
     * service's own users. identity.md §9.
     */
    activate: Effect.fn("UserStatuses.activate")((reference: string) => change(reference, "activate", () => Effect.void)),

    /**
     * Suspends a user: its keys stay and are refused from the next request on. Fails with `Forbidden` if the actor may not manage users and
     * for the service's own users, `Conflict` for the last owner, and `Invalid` for another owner and for the actor itself. identity.md §9.
     */
    suspend: Effect.fn("UserStatuses.suspend")((reference: string) => change(reference, "suspend", guardSuspension))
  }
})

/** The statuses of users, which decide whether they can log in. */
export class UserStatuses extends Context.Tag("@atelier/core/UserStatuses")<UserStatuses, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(UserStatuses, make), Users.layer, AccountNotifications.layer)
}
