import { Effect, Either } from "effect"
import { isBuiltIn, organizationRole } from "../../access/roles/Roles.js"
import { CustomRoleRepository } from "../../organizations/CustomRoleRepository.js"
import { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import { isName } from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { User } from "../users/User.js"
import { type Claims, claimValues, isSameSet, rolesFrom } from "./ClaimSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { LoginSyncRepository, type SyncedMembership } from "./LoginSyncRepository.js"
import { logSkipped, makeSyncTrail } from "./SyncTrail.js"

/** Gives the user the roles that follow from its claims, and no others, in each organization where some do.*/
export const makeRoleSync = Effect.gen(function* () {
  const repository = yield* LoginSyncRepository
  const organizationChanges = yield* OrganizationChangeRepository
  const customRoles = yield* CustomRoleRepository
  const inForce = yield* IdpSyncInForce
  const { recordMembership } = yield* makeSyncTrail

  /** The names that are roles of the organization, without the role that every member has. */
  const rolesAmong = ({ default_org_member_roles, organization_id }: SyncedMembership, names: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const custom = yield* customRoles.named(
        organization_id,
        names.filter((name) => isName(name) && !isBuiltIn(name))
      )
      const isRole = (name: string) => organizationRole(name) !== undefined || custom.some((role) => role.name === name)
      return names.filter((name) => isRole(name) && !default_org_member_roles.includes(name))
    })

  return (user: User, claims: Claims, memberships: ReadonlyArray<SyncedMembership>) =>
    Effect.gen(function* () {
      const settings = yield* inForce.roles(memberships.map(({ is_default, organization_id: id }) => ({ id, is_default })))
      for (const before of memberships) {
        const { default_org_member_roles, organization_id } = before
        const each = settings.get(organization_id)
        if (each === undefined || !inForce.isOn("role", each)) continue
        const values = claimValues(claims, each.field)
        if (Either.isLeft(values)) {
          yield* logSkipped(organization_id, values.left)
          continue
        }
        const claimed = rolesFrom(values.right, each.mapping)
        const explicit = before.roles.filter((name) => !default_org_member_roles.includes(name))
        if (isSameSet(yield* rolesAmong(before, claimed), explicit)) continue
        // The lock keeps the organization's roles from being deleted
        yield* organizationChanges.lock(organization_id)
        const roles = yield* rolesAmong(before, claimed)
        const updated_at = yield* Timestamp.now
        yield* repository.updateRoles(user.id, organization_id, roles, updated_at)
        yield* recordMembership(user, before, { ...before, roles, updated_at })
      }
    })
})
