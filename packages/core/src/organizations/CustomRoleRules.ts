/** The rules of a role that an organization's administrators request. authorization.md §7.3. */
import { Effect } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { isValidPermission } from "../access/Resource.js"
import { beyond, grantsOf } from "../access/roles/CustomRole.js"
import { organizationSystemRoles } from "../access/roles/OrganizationSystemRoles.js"
import { isBuiltIn } from "../access/roles/Roles.js"
import { Invalid, type NotFound, refuseViolations, type Validation } from "../platform/Errors.js"
import * as Name from "../platform/texts/Name.js"
import { displayNameViolation, type OrganizationId } from "./Organization.js"
import { noRole } from "./RoleLocks.js"

/** A permission as it was sent: of any type and action. */
export interface RequestedPermission {
  readonly negate: boolean
  readonly resource_type: string
  readonly action: string
}

/** A requested role. Lists that are absent on the wire are empty here; only the organization's list may have entries. */
export interface RequestedRole {
  readonly name: string
  readonly display_name: string
  readonly site_permissions: ReadonlyArray<RequestedPermission>
  readonly user_permissions: ReadonlyArray<RequestedPermission>
  readonly organization_permissions: ReadonlyArray<RequestedPermission>
  readonly organization_member_permissions: ReadonlyArray<RequestedPermission>
}

/** The most permissions of a request: some 200 exist. */
const maximumPermissions = 1000

/** Violations that one refusal lists. */
const maximumViolations = 100

export const builtIn = Invalid.field("name", "is the name of a built-in role")

const permissionViolation = ({ action, negate, resource_type }: RequestedPermission): string | undefined => {
  if (negate) return "must not be negative"
  if (resource_type === "*" || action === "*") return "must name a type and an action, not *"
  return isValidPermission(resource_type, action)
    ? undefined
    : `${JSON.stringify(`${resource_type}:${action}`.slice(0, 64))} does not exist`
}

/** Returns every rule that a role breaks, independent of the actor. authorization.md §7.3. */
export const violationsOf = (request: RequestedRole): ReadonlyArray<Validation> => {
  const levels = ["site_permissions", "user_permissions", "organization_member_permissions"] as const
  if (request.organization_permissions.length > maximumPermissions) {
    return [{ field: "organization_permissions", detail: `must be at most ${maximumPermissions}` }]
  }
  const fields = { name: Name.violation(request.name.toLowerCase()), display_name: displayNameViolation(request.display_name) }
  return [
    ...Object.entries(fields).flatMap(([field, detail]) => (detail === undefined ? [] : [{ field, detail }])),
    ...levels
      .filter((level) => request[level].length > 0)
      .map((field) => ({ field, detail: "must be empty for a role of an organization" })),
    ...request.organization_permissions.flatMap((permission) => {
      const detail = permissionViolation(permission)
      return detail === undefined ? [] : [{ field: "organization_permissions", detail }]
    })
  ].slice(0, maximumViolations)
}

/** Why no role of this name can be deleted. The implicit roles of members are reported as missing. */
export const noSuchRole = (name: string): Invalid | NotFound => {
  if (organizationSystemRoles.some((system) => system === name)) return noRole
  if (isBuiltIn(name)) return builtIn
  const violation = Name.violation(name)
  return violation === undefined ? noRole : Invalid.field("roleName", violation)
}

/**
 * Returns the permissions of a requested role. Fails with `Invalid` for a broken rule, and for permissions that the actor does not hold
 * itself.
 */
export const grantsFor = (organizationId: OrganizationId, request: RequestedRole) =>
  Effect.gen(function* () {
    yield* refuseViolations(violationsOf(request))
    const grants = grantsOf(request.organization_permissions)
    const { subject } = yield* CurrentActor
    const lacking = beyond(subject, organizationId, grants)
    if (lacking.length > 0) {
      return yield* Invalid.field("organization_permissions", `you do not hold ${lacking.join(", ")} in the whole organization yourself`)
    }
    return grants
  })
