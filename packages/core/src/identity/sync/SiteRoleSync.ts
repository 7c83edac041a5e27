import { Effect, Either } from "effect"
import { siteRole } from "../../access/roles/Roles.js"
import { impliedSiteRole } from "../../access/roles/SiteRoles.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { ProviderFailure } from "../logins/LoginProvider.js"
import { accountWrite, isLastOwner } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ownerRole, type User } from "../users/User.js"
import { type Claims, claimValues, isSameSet, rolesFrom } from "./ClaimSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { makeSyncTrail } from "./SyncTrail.js"

/** Gives the user the roles of the deployment that follow from its claims, and no others; the last owner stays one.*/
export const makeSiteRoleSync = Effect.gen(function* () {
  const accounts = yield* AccountRepository
  const inForce = yield* IdpSyncInForce
  const options = yield* DeploymentOptions
  const { automatic } = yield* makeSyncTrail

  return (user: User, claims: Claims) =>
    Effect.gen(function* () {
      if (!inForce.siteRolesFollow()) return
      const values = claimValues(claims, options.oidcUserRoleField)
      if (Either.isLeft(values)) return yield* new ProviderFailure({ message: values.left.reason })
      const isRole = (name: string) => name !== impliedSiteRole && siteRole(name) !== undefined
      const claimed = rolesFrom(values.right, options.oidcUserRoleMapping)
      const wanted = new Set([...options.oidcUserRoleDefault, ...claimed].filter(isRole))
      if (!wanted.has(ownerRole) && (yield* isLastOwner(accounts, user))) {
        yield* Effect.logWarning("the last owner keeps the role, which the user's claims do not give").pipe(
          Effect.annotateLogs({ user_id: user.id })
        )
        wanted.add(ownerRole)
      }
      const rbac_roles = [...wanted].toSorted()
      if (isSameSet(rbac_roles, user.rbac_roles)) return
      const { success } = yield* Audit.AuditStatus
      yield* accounts.updateRoles({ id: user.id, rbac_roles, updated_at: yield* Timestamp.now })
      yield* Audit.record({
        ...accountWrite(user),
        ...automatic,
        status_code: success,
        before: user,
        after: { ...user, rbac_roles }
      })
    })
})
