import { Context, Effect, Either } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Forbidden, Invalid } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { StartError } from "../../platform/wiring/StartError.js"
import type { User } from "../users/User.js"
import { type Claims, claimValues, isAllowedByGroups } from "./ClaimSync.js"
import { makeGroupSync } from "./GroupSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { LoginSyncRepository } from "./LoginSyncRepository.js"
import { makeOrganizationSync } from "./OrganizationSync.js"
import { makeRoleSync } from "./RoleSync.js"
import { makeSiteRoleSync } from "./SiteRoleSync.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { ProviderFailure } from "../logins/LoginProvider.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Ids } from "../../platform/Ids.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"

/** The methods of {@link LoginSync}. */
export interface LoginSyncService {
  /** Fails with `Forbidden` if the user is in none of the groups that may log in. authorization.md §11.3 no. 1. */
  readonly requireAllowed: (claims: Claims) => Effect.Effect<void, Forbidden | Invalid>

  /**
   * Makes memberships, then groups and roles of a user follow its claims, where settings and licenses say so. Call it in the login's
   * transaction, with the user locked. Fails with `Invalid` for a claim of organizations, and with `ProviderFailure` for one of site
   * roles, that cannot be read; where one of groups or roles cannot, what it would change stays. authorization.md §11.3 no. 2–4.
   */
  readonly apply: (
    user: User,
    claims: Claims
  ) => Effect.Effect<void, Invalid | ProviderFailure, CurrentActor | EventBus | Ids | AuditRepository>
}

const make = Effect.gen(function* () {
  const repository = yield* LoginSyncRepository
  const inForce = yield* IdpSyncInForce
  const options = yield* DeploymentOptions
  const syncOrganizations = yield* makeOrganizationSync
  const syncGroups = yield* makeGroupSync
  const syncRoles = yield* makeRoleSync
  const syncSiteRoles = yield* makeSiteRoleSync
  if (options.oidcGroupField === "" && options.oidcAllowedGroups.length > 0) {
    return yield* new StartError({ option: "options.oidcAllowedGroups", reason: "needs oidcGroupField" })
  }

  return {
    requireAllowed: (claims: Claims): Effect.Effect<void, Forbidden | Invalid> => {
      if (options.oidcAllowedGroups.length === 0) return Effect.void
      const values = claimValues(claims, options.oidcGroupField)
      if (Either.isLeft(values)) return new Invalid({ message: values.left.reason })
      return isAllowedByGroups(values.right, options.oidcAllowedGroups)
        ? Effect.void
        : new Forbidden({ message: "You are not in a group that may log in." })
    },

    apply: Traced.fn("LoginSync.apply")(function* (user: User, claims: Claims) {
      // Most logins follow nothing, and ask the store for nothing
      if (inForce.isLicensed("organization")) yield* syncOrganizations(user, claims)
      if (inForce.isLicensed("group") || inForce.isLicensed("role")) {
        const memberships = yield* repository.memberships(user.id)
        if (inForce.isLicensed("group")) yield* syncGroups(user, claims, memberships)
        if (inForce.isLicensed("role")) yield* syncRoles(user, claims, memberships)
      }
      yield* syncSiteRoles(user, claims)
    })
  }
})

/** The changes of users at each login that follow from their provider's claims. */
export class LoginSync extends Context.Tag("@atelier/core/LoginSync")<LoginSync, LoginSyncService>() {
  static readonly layer = standingOn(service(LoginSync, make), IdpSyncInForce.layer)
}
