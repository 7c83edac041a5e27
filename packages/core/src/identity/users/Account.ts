import { Effect } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { roleNames, type Subject } from "../../access/actors/Subject.js"
import { userAudit } from "./UserAudit.js"
import { Conflict, Forbidden, NotFound } from "../../platform/Errors.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { AccountRepository } from "./AccountRepository.js"
import { ownerRole, type User, type UserId } from "./User.js"

/** The subject of audit entries about a change of a user. */
export const accountWrite = (user: Pick<User, "id" | "username">) =>
  ({ action: "write", resource: userAudit, id: user.id, target: user.username }) as const

/** Returns the current user, locked until the transaction ends. Fails with `NotFound` if the user is deleted. */
export const lockedAccount = (accounts: AccountRepository["Type"], id: UserId): Effect.Effect<User, NotFound> =>
  Effect.flatMap(accounts.lock([id]), ([user]) => (user === undefined ? new NotFound({ resource: "user" }) : Effect.succeed(user)))

/** Fails with `Forbidden` for the service's own users, which cannot be changed. identity.md §9. */
export const refuseSystem = ({ is_system }: Pick<User, "is_system">): Effect.Effect<void, Forbidden> =>
  is_system ? new Forbidden({ message: "The service's own users cannot be changed." }) : Effect.void

/** Whether the subject is an owner of the deployment. */
export const isOwner = (subject: Subject): boolean =>
  roleNames(subject).some(({ name, organizationId }) => name === ownerRole && organizationId === undefined)

/** Whether the user is the only owner: without one, no user could make another. Call it in the transaction of a change. */
export const isLastOwner = (
  accounts: AccountRepository["Type"],
  { id, rbac_roles }: Pick<User, "id" | "rbac_roles">
): Effect.Effect<boolean> =>
  rbac_roles.includes(ownerRole)
    ? Effect.map(accounts.lockOwners, (owners) => owners.every((owner) => owner === id))
    : Effect.succeed(false)

/** Fails with `Conflict` for the last owner of the deployment. `change` completes "cannot be …". */
export const requireAnotherOwner = (
  accounts: AccountRepository["Type"],
  user: Pick<User, "id" | "rbac_roles">,
  change: "deleted" | "suspended" | "demoted"
): Effect.Effect<void, Conflict> =>
  Effect.flatMap(isLastOwner(accounts, user), (isLast) =>
    isLast
      ? new Conflict({ message: `The last owner of the deployment cannot be ${change}. Give another user the role first.` })
      : Effect.void
  )

/**
 * Fails with `Forbidden` for an actor that has been deleted, or has lost the owner's role, since authentication: two owners who end each
 * other's rights concurrently would leave none. `locked` includes the actor's own account.
 */
export const requireCurrentRole = (locked: ReadonlyArray<User>): Effect.Effect<void, Forbidden, CurrentActor> =>
  Effect.flatMap(CurrentActor, ({ subject, userId }) => {
    if (userId === nil) return Effect.void
    const self = locked.find(({ id }) => id === userId)
    return self === undefined || (isOwner(subject) && !self.rbac_roles.includes(ownerRole)) ? new Forbidden() : Effect.void
  })
