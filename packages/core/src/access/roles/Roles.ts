/** From the names a user holds to roles. authorization.md §1.2. */
import { organizationRoles } from "./OrganizationRoles.js"
import {
  organizationMember,
  organizationServiceAccount,
  organizationSystemRole,
  type ShareableWorkspaceOwners
} from "./OrganizationSystemRoles.js"
import type { Role } from "./Role.js"
import { applyOptions, type RoleOptions } from "./RoleOptions.js"
import { siteRoles } from "./SiteRoles.js"

const builtInSite = new Map(siteRoles.map((role) => [role.name, role]))
const builtInOrganization = new Map(organizationRoles.map((role) => [role.name, role]))

/** The built-in site role of that name. */
export const siteRole = (name: string): Role | undefined => builtInSite.get(name)

/** The built-in organization role of that name, the two system roles excepted. */
export const organizationRole = (name: string): Role | undefined => builtInOrganization.get(name)

/** Whether a name belongs to a built-in role of any level. */
export const isBuiltIn = (name: string): boolean =>
  builtInSite.has(name) || builtInOrganization.has(name) || name === organizationMember || name === organizationServiceAccount

/** Where names are looked up: in the deployment, or in an organization whose sharing mode is known. */
export interface RoleLookup {
  readonly organizationId?: string | undefined
  readonly shareMode?: ShareableWorkspaceOwners | undefined
  /** The stored roles that may be named, of any organization. */
  readonly customRoles?: ReadonlyArray<Role> | undefined
  readonly options?: RoleOptions | undefined
}

/** The roles behind the names, each once. Built-in roles come first; a name that nothing answers to is dropped. */
export const expandRoles = (names: Iterable<string>, lookup: RoleLookup = {}): ReadonlyArray<Role> => {
  const roles: Array<Role> = []
  for (const name of new Set(names)) {
    const role =
      builtIn(name, lookup) ??
      lookup.customRoles?.find((custom) => custom.name === name && custom.organization_id === lookup.organizationId)
    if (role !== undefined) roles.push(role)
  }
  return roles
}

const builtIn = (name: string, { organizationId, shareMode, options = {} }: RoleLookup): Role | undefined => {
  if (organizationId === undefined) {
    const role = builtInSite.get(name)
    return role && applyOptions(role, options)
  }
  if (name === organizationMember || name === organizationServiceAccount) return organizationSystemRole(name, shareMode ?? "none")
  return builtInOrganization.get(name)
}
