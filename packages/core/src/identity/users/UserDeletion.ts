import { Context, Effect, Layer } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { Forbidden, InUse, NotFound } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { refuseSystem, requireAnotherOwner, requireCurrentRole } from "./Account.js"
import { AccountNotifications } from "./AccountNotifications.js"
import { AccountRepository } from "./AccountRepository.js"
import { ownerRole } from "./User.js"
import { UserDeletionRepository } from "./UserDeletionRepository.js"
import { Users } from "./Users.js"
import { standingOn } from "../../platform/Standing.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const deletions = yield* UserDeletionRepository
  const notifications = yield* AccountNotifications

  return {
    /**
     * Deletes a user: its sessions and tokens are refused from now on, its name and address are free. Fails with `Forbidden` for the actor
     * itself, for the service's own users and without the permission, with `InUse` for a user that has workspaces, even ones that the actor
     * cannot see, and with `Conflict` for the last owner. identity.md §8.4, §8.5.
     */
    delete: Effect.fn("UserDeletion.delete")(function* (reference: string) {
      const user = yield* users.get(reference)
      if (user.deleted) return yield* new NotFound({ resource: "user" })
      yield* Audit.audited(
        { action: "delete", type: "user", id: user.id, target: user.username },
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

/** The end of accounts. */
export class UserDeletion extends Context.Tag("@atelier/core/UserDeletion")<UserDeletion, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(UserDeletion, make), Users.layer, AccountNotifications.layer)
}
