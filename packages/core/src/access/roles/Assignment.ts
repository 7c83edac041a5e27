/** The table of assignable roles. authorization.md §2.4. */
import { permits } from "../decisions/Decision.js"
import { organizationRoles } from "./OrganizationRoles.js"
import { organizationMember } from "./OrganizationSystemRoles.js"
import type { RoleName } from "./Role.js"
import { isBuiltIn } from "./Roles.js"
import { siteRoles } from "./SiteRoles.js"
import { roleNames, type Subject } from "../actors/Subject.js"

/** The name of custom roles in the table. */
const customSiteRole = "custom-site-role"
const customOrganizationRole = "custom-organization-role"

const inOrganization = [...organizationRoles.map(({ name }) => name), organizationMember, customOrganizationRole]
const everyRole = [...siteRoles.map(({ name }) => name), customSiteRole, ...inOrganization]

/** The roles that the holder of a role may give and take; a role that is not named here gives nothing. */
const bySiteRole: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["system", everyRole],
  ["owner", everyRole],
  ["user-admin", ["member", "organization-member", "organization-workspace-access", "agents-access"]]
])

/** As above, in the organization where the role is held. A custom role there may carry the name of a site role: it gives nothing. */
const byOrganizationRole: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["organization-admin", inOrganization],
  ["organization-user-admin", ["organization-member", "organization-workspace-access", "agents-access"]]
])

/**
 * Whether a holder of the actor's roles may give or take the role, in the organization or, without one, in the deployment. A role held in
 * an organization counts for roles of that organization alone.
 */
export const assignable = (actorRoles: ReadonlyArray<RoleName>, roleName: string, organizationId?: string): boolean => {
  const listed = isBuiltIn(roleName) ? roleName : organizationId === undefined ? customSiteRole : customOrganizationRole
  return actorRoles.some((held) =>
    held.organizationId === undefined
      ? bySiteRole.get(held.name)?.includes(listed)
      : held.organizationId === organizationId && byOrganizationRole.get(held.name)?.includes(listed)
  )
}

/** Why a change of a user's roles is refused. */
export type RoleChangeRefusal =
  | { readonly _tag: "NotPermitted"; readonly action: "assign" | "unassign" }
  | { readonly _tag: "NotAssignable"; readonly roles: ReadonlyArray<string> }

/**
 * Why the subject may not replace the roles `before` by `after`, or null where it may. Order: the permission to assign, to unassign, then
 * the table.
 */
export const roleChangeRefusal = (
  subject: Subject,
  change: { readonly before: ReadonlyArray<string>; readonly after: ReadonlyArray<string>; readonly organizationId?: string | undefined }
): RoleChangeRefusal | null => {
  const { organizationId } = change
  const added = except(change.after, change.before)
  const removed = except(change.before, change.after)
  const object =
    organizationId === undefined ? ({ type: "assign_role" } as const) : ({ type: "assign_org_role", org: organizationId } as const)
  if (added.length > 0 && !permits(subject, "assign", object)) return { _tag: "NotPermitted", action: "assign" }
  if (removed.length > 0 && !permits(subject, "unassign", object)) return { _tag: "NotPermitted", action: "unassign" }
  const held = roleNames(subject)
  const roles = [...added, ...removed].filter((name) => !assignable(held, name, organizationId))
  return roles.length === 0 ? null : { _tag: "NotAssignable", roles }
}

const except = (names: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(names)).filter((name) => !others.includes(name))
