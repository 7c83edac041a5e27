import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { assignable, roleChangeRefusal } from "../../access/roles/Assignment.js"
import type { Role } from "../../access/roles/Role.js"
import { siteRole } from "../../access/roles/Roles.js"
import { impliedSiteRole, siteRoles } from "../../access/roles/SiteRoles.js"
import { roleNames } from "../../access/actors/Subject.js"
import * as Audit from "../../audit/Audit.js"
import { RightsRepository } from "../../organizations/RightsRepository.js"
import { permitted } from "../../organizations/CurrentRights.js"
import { Forbidden, Invalid, NotFound, type Conflict } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { accountWrite, refuseSystem, requireAnotherOwner } from "./Account.js"
import { AccountRepository, type OrganizationRoles } from "./AccountRepository.js"
import { IdpSyncInForce } from "../sync/IdpSyncInForce.js"
import { type UserWithOrganizations, ownerRole, type User } from "./User.js"
import { Users } from "./Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** A role of the deployment, and whether the actor may give and take it. */
export interface AssignableRole {
  readonly role: Role
  readonly assignable: boolean
}

const unknownRole = (name: string): Invalid =>
  Invalid.field("roles", `${JSON.stringify(name.slice(0, 64))} is not a role of the deployment`)

/** The methods of {@link UserRoles}. */
export interface UserRolesService {
  /** The roles a user has been given: of the deployment, and of each organization whose membership the actor may read. identity.md §8.6. */
  readonly of: (
    reference: string
  ) => Effect.Effect<
    { readonly roles: ReadonlyArray<string>; readonly organizations: ReadonlyArray<OrganizationRoles> },
    NotFound,
    CurrentActor
  >

  /**
   * Replaces a user's roles in the deployment. Fails with `Forbidden` if the actor may not give roles and for the service's own users,
   * `Conflict` if it would take the last owner's role, and `Invalid` for the actor's own roles, roles that follow from claims, an unknown
   * role, and a role that the actor may not give or take. identity.md §8.5, §8.6.
   */
  readonly replace: (
    reference: string,
    names: ReadonlyArray<string>
  ) => Effect.Effect<UserWithOrganizations, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** The assignable roles of the deployment; every user has `member`. identity.md §8.6. */
  readonly all: () => Effect.Effect<ReadonlyArray<AssignableRole>, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const rights = yield* RightsRepository
  const { siteRolesFollow } = yield* IdpSyncInForce

  return {
    of: Traced.fn("UserRoles.of")(function* (reference: string) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      const memberships = yield* Access.filter("read", yield* accounts.organizationRoles(user.id), ({ organization_id }) =>
        AccessObjects.organizationMember({ user_id: user.id, organization_id })
      )
      return { roles: user.rbac_roles, organizations: memberships }
    }),

    replace: Traced.fn("UserRoles.replace")(function* (reference: string, names: ReadonlyArray<string>) {
      const actor = yield* CurrentActor
      const user = yield* users.get(reference)
      const roles = Array.from(new Set(names))
      const after = yield* Audit.audited(
        accountWrite(user),
        Effect.gen(function* () {
          if (user.login_type === "oidc" && siteRolesFollow()) {
            return yield* new Invalid({ message: "The roles of this user follow from the claims of its identity provider." })
          }
          const isDemotion = !roles.includes(ownerRole)
          if (user.id === actor.userId) {
            if (isDemotion) yield* requireAnotherOwner(accounts, user, "demoted")
            return yield* new Invalid({ message: "You cannot change your own roles." })
          }
          return yield* permitted(rights)(
            Access.authorize("assign", AccessObjects.bare("assign_role")),
            accounts.lock([user.id, actor.userId]),
            (locked) =>
              Effect.gen(function* () {
                yield* refuseSystem(user)
                const unknown = roles.find((name) => siteRole(name) === undefined)
                if (unknown !== undefined) return yield* unknownRole(unknown)

                const before = locked.find(({ id }) => id === user.id)
                if (before === undefined) return yield* new NotFound({ resource: "user" })
                const { subject } = yield* CurrentActor
                const refusal = roleChangeRefusal(subject, { before: before.rbac_roles, after: roles })
                if (refusal?._tag === "NotPermitted") return yield* new Forbidden()
                if (refusal !== null) return yield* Invalid.field("roles", `you may not give or take ${refusal.roles.join(", ")}`)

                if (isDemotion) yield* requireAnotherOwner(accounts, before, "demoted")
                const value: User = { ...before, rbac_roles: roles, updated_at: yield* Timestamp.now }
                yield* accounts.updateRoles(value)
                return { value, before, after: value }
              })
          )
        })
      )
      return { ...after, organization_ids: user.organization_ids }
    }),

    all: Traced.fn("UserRoles.all")(function* () {
      yield* Access.authorize("read", AccessObjects.bare("assign_role"))
      const mayAssign = yield* Access.can("assign", AccessObjects.bare("assign_role"))
      const held = roleNames((yield* CurrentActor).subject)
      return siteRoles
        .filter(({ name }) => name !== impliedSiteRole)
        .map((role): AssignableRole => ({ role, assignable: mayAssign && assignable(held, role.name) }))
    })
  }
})

/** The roles of users in the deployment. */
export class UserRoles extends Context.Tag("@atelier/core/UserRoles")<UserRoles, UserRolesService>() {
  static readonly layer = standingOn(service(UserRoles, make), Users.layer, IdpSyncInForce.layer)
}
