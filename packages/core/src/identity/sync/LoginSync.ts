import { Context, Effect, Either, Layer } from "effect"
import { publishRightsChange } from "../../access/RightsChanges.js"
import { isBuiltIn, organizationRole, siteRole } from "../../access/Roles.js"
import { impliedSiteRole } from "../../access/SiteRoles.js"
import * as Audit from "../../audit/Audit.js"
import { diff } from "../../audit/AuditedFields.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { everyoneName, type Group } from "../../groups/Group.js"
import { CustomRoleRepository } from "../../organizations/CustomRoleRepository.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Forbidden, Invalid } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { isName } from "../../platform/Name.js"
import { StartError } from "../../platform/StartError.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { accountWrite, isLastOwner } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { type Claims, claimValues, groupsFrom, isAllowedByGroups, organizationsFrom, rolesFrom, type UnreadableClaim } from "./ClaimSync.js"
import type { GroupSyncSettings } from "./IdpSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { ProviderFailure } from "../logins/LoginProvider.js"
import { LoginSyncRepository, type SyncedMembership } from "./LoginSyncRepository.js"
import { ownerRole, type User } from "../users/User.js"
import { standingOn } from "../../platform/Standing.js"

/** Characters of the name of a group. */
const maximumGroupName = 255

/** Whether a group can have that name, and is not the one of all members. */
const isGroupName = (name: string): boolean =>
  name !== "" &&
  name.length <= maximumGroupName &&
  name.toLowerCase() !== everyoneName.toLowerCase() &&
  // No store holds these characters
  !/[\0\p{Cs}]/u.test(name)

const isSame = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  new Set(left).size === new Set(right).size && left.every((item) => right.includes(item))

const make = Effect.gen(function* () {
  const repository = yield* LoginSyncRepository
  const organizations = yield* OrganizationRepository
  const organizationChanges = yield* OrganizationChangeRepository
  const customRoles = yield* CustomRoleRepository
  const accounts = yield* AccountRepository
  const inForce = yield* IdpSyncInForce
  const ids = yield* Ids
  const options = yield* DeploymentOptions
  if (options.oidcGroupField === "" && options.oidcAllowedGroups.length > 0) {
    return yield* new StartError({ option: "options.oidcAllowedGroups", reason: "needs oidcGroupField" })
  }

  const automatic = { additional_fields: { automatic_actor: options.brand.toLowerCase(), automatic_subsystem: "idp_sync" } }

  const skip = (organizationId: OrganizationId, { reason }: UnreadableClaim) =>
    Effect.annotateLogs(Effect.logWarning(`claims are not followed at a login: ${reason}`), { organization_id: organizationId })

  /** The audit log's entry of a membership that begins, changes or ends. */
  const recordMembership = (user: User, before: SyncedMembership | undefined, after: SyncedMembership | undefined) =>
    Effect.gen(function* () {
      const { success } = yield* Audit.AuditStatus
      const view = (membership: SyncedMembership | undefined) =>
        membership === undefined ? undefined : { ...membership, user_id: user.id, username: user.username }
      const organization_id = (after ?? before)?.organization_id
      yield* Audit.record({
        ...automatic,
        action: before === undefined ? "create" : after === undefined ? "delete" : "write",
        type: "organization_member",
        id: user.id,
        target: user.username,
        organization_id,
        status_code: success,
        diff: diff("organization_member", view(before), view(after))
      })
    })

  /** Makes the user a member of what follows from its claims, and of nothing else. */
  const syncOrganizations = (user: User, claims: Claims) =>
    Effect.gen(function* () {
      const settings = yield* inForce.organizations
      if (!inForce.isOn("organization", settings)) return
      const values = claimValues(claims, settings.field)
      if (Either.isLeft(values)) return yield* new Invalid({ message: values.left.reason })
      const { id: defaultId } = yield* Effect.flatMap(organizations.default, Effect.orDie)
      const wanted = new Set(yield* repository.lockOrganizations([...organizationsFrom(values.right, settings, defaultId)]))
      const before = yield* repository.memberships(user.id)
      const left = before.filter(({ organization_id }) => !wanted.has(organization_id))
      for (const { organization_id } of before) wanted.delete(organization_id)
      if (left.length > 0) {
        yield* repository.leave(
          user.id,
          left.map(({ organization_id }) => organization_id)
        )
        yield* Effect.forEach(left, (membership) => recordMembership(user, membership, undefined), { discard: true })
      }
      if (wanted.size > 0) {
        yield* repository.join(user.id, [...wanted], yield* Timestamp.now)
        const after = yield* repository.memberships(user.id)
        const joined = after.filter(({ organization_id }) => wanted.has(organization_id))
        yield* Effect.forEach(joined, (membership) => recordMembership(user, undefined, membership), { discard: true })
      }
    })

  /** The groups that follow from claims in one organization; undefined where they say nothing. */
  const wantedGroups = (organizationId: OrganizationId, settings: GroupSyncSettings, claims: Claims) => {
    const wanted = Either.flatMap(claimValues(claims, settings.field), (values) => groupsFrom(values, settings))
    return Either.isLeft(wanted)
      ? Effect.as(skip(organizationId, wanted.left), undefined)
      : Effect.succeed({
          organization_id: organizationId,
          ids: [...wanted.right.ids],
          names: [...wanted.right.names].filter(isGroupName),
          creates: settings.auto_create_missing_groups
        })
  }

  /** Puts the user into the groups that follow from its claims, and into no others, in each organization where some do. */
  const syncGroups = (user: User, claims: Claims, memberships: ReadonlyArray<SyncedMembership>) =>
    Effect.gen(function* () {
      const settings = yield* inForce.groups(memberships.map(({ is_default, organization_id: id }) => ({ id, is_default })))
      const followed = [...settings].filter(([, each]) => inForce.isOn("group", each))
      if (followed.length === 0) return
      const wanted = (yield* Effect.forEach(followed, ([id, each]) => wantedGroups(id, each, claims))).flatMap((each) => each ?? [])
      const found = yield* repository.findGroups(wanted)
      const missing = wanted.flatMap(({ creates, names, organization_id }) =>
        creates
          ? names
              .filter((name) => !found.some((group) => group.organization_id === organization_id && group.name === name))
              .map((name) => ({ organization_id, name }))
          : []
      )
      if (missing.length > 0) {
        // An organization whose last member is logging in may be deleted concurrently
        const locked = new Set(yield* repository.lockOrganizations(missing.map(({ organization_id }) => organization_id)))
        const made = yield* Effect.forEach(
          missing.filter(({ organization_id }) => locked.has(organization_id)),
          (group) =>
            Effect.map(ids.next, (id): Group => ({ ...group, id, display_name: "", avatar_url: "", quota_allowance: 0, source: "oidc" }))
        )
        yield* repository.createGroups(made)
      }
      const all = missing.length === 0 ? found : yield* repository.findGroups(wanted)
      const target = new Set(all.map(({ id }) => id))
      const present = yield* repository.groupsOf(
        user.id,
        wanted.map(({ organization_id }) => organization_id)
      )
      const left = present.filter((id) => !target.has(id))
      for (const id of present) target.delete(id)
      // Groups are locked before memberships change, in the same order as when a group is deleted
      yield* repository.enter(user.id, [...target])
      yield* repository.exit(user.id, left)
      if (left.length > 0) yield* publishRightsChange({ user_id: user.id })
    })

  /** Those of the names that are roles of the organization, and not what every member has. */
  const rolesAmong = ({ default_org_member_roles, organization_id }: SyncedMembership, names: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const custom = yield* customRoles.named(
        organization_id,
        names.filter((name) => isName(name) && !isBuiltIn(name))
      )
      const isRole = (name: string) => organizationRole(name) !== undefined || custom.some((role) => role.name === name)
      return names.filter((name) => isRole(name) && !default_org_member_roles.includes(name))
    })

  /** Gives the user the roles that follow from its claims, and no others, in each organization where some do. */
  const syncRoles = (user: User, claims: Claims, memberships: ReadonlyArray<SyncedMembership>) =>
    Effect.gen(function* () {
      const settings = yield* inForce.roles(memberships.map(({ is_default, organization_id: id }) => ({ id, is_default })))
      for (const before of memberships) {
        const { default_org_member_roles, organization_id } = before
        const each = settings.get(organization_id)
        if (each === undefined || !inForce.isOn("role", each)) continue
        const values = claimValues(claims, each.field)
        if (Either.isLeft(values)) {
          yield* skip(organization_id, values.left)
          continue
        }
        const claimed = rolesFrom(values.right, each.mapping)
        const explicit = before.roles.filter((name) => !default_org_member_roles.includes(name))
        if (isSame(yield* rolesAmong(before, claimed), explicit)) continue
        // The lock keeps the organization's roles from being deleted
        yield* organizationChanges.lock(organization_id)
        const roles = yield* rolesAmong(before, claimed)
        const updated_at = yield* Timestamp.now
        yield* repository.updateRoles(user.id, organization_id, roles, updated_at)
        yield* recordMembership(user, before, { ...before, roles, updated_at })
      }
    })

  /** Gives the user the roles of the deployment that follow from its claims, and no others; the last owner stays one. */
  const syncSiteRoles = (user: User, claims: Claims) =>
    Effect.gen(function* () {
      if (!inForce.siteRolesFollow()) return
      const values = claimValues(claims, options.oidcUserRoleField)
      if (Either.isLeft(values)) return yield* new ProviderFailure({ message: values.left.reason })
      const isRole = (name: string) => name !== impliedSiteRole && siteRole(name) !== undefined
      const claimed = rolesFrom(values.right, options.oidcUserRoleMapping)
      const wanted = new Set([...options.oidcUserRoleDefault, ...claimed].filter(isRole))
      if (!wanted.has(ownerRole) && (yield* isLastOwner(accounts, user))) {
        yield* Effect.logWarning("the last owner's claims do not give the role, which is kept").pipe(
          Effect.annotateLogs({ user_id: user.id })
        )
        wanted.add(ownerRole)
      }
      const rbac_roles = [...wanted].toSorted()
      if (isSame(rbac_roles, user.rbac_roles)) return
      const { success } = yield* Audit.AuditStatus
      yield* accounts.updateRoles({ id: user.id, rbac_roles, updated_at: yield* Timestamp.now })
      yield* Audit.record({
        ...accountWrite(user),
        ...automatic,
        status_code: success,
        diff: diff("user", { rbac_roles: user.rbac_roles }, { rbac_roles })
      })
    })

  return {
    /** Fails with `Forbidden` if the user is in none of the groups that may log in. authorization.md §11.3 no. 1. */
    requireAllowed: (claims: Claims): Effect.Effect<void, Forbidden | Invalid> => {
      if (options.oidcAllowedGroups.length === 0) return Effect.void
      const values = claimValues(claims, options.oidcGroupField)
      if (Either.isLeft(values)) return new Invalid({ message: values.left.reason })
      return isAllowedByGroups(values.right, options.oidcAllowedGroups)
        ? Effect.void
        : new Forbidden({ message: "You are in none of the groups that may log in." })
    },

    /**
     * Makes memberships, then groups and roles of a user follow its claims, where settings and licenses say so. Call it in the login's
     * transaction, with the user locked. Fails with `Invalid` for a claim of organizations, and with `ProviderFailure` for one of site
     * roles, that cannot be read; where one of groups or roles cannot, what it would change stays. authorization.md §11.3 no. 2–4.
     */
    apply: Effect.fn("LoginSync.apply")(function* (user: User, claims: Claims) {
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
export class LoginSync extends Context.Tag("@atelier/core/LoginSync")<LoginSync, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(LoginSync, make), IdpSyncInForce.layer)
}
