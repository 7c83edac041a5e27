/** Roles that an organization made for itself. authorization.md §7.3. */
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { unrestrictedAllowList } from "../scopes/AllowList.js"
import { permits } from "../decisions/Decision.js"
import type { Grants } from "../decisions/Permission.js"
import {
  type Action,
  actionsOf,
  isAction,
  isResourceKind,
  isValidPermission,
  type ResourceKind,
  type ResourceType,
  resourceTypes
} from "../Resource.js"
import type { Role } from "./Role.js"
import { expandRoles } from "./Roles.js"
import { allScope, expandScopes } from "../scopes/Scope.js"
import { type Subject, subjectOf } from "../actors/Subject.js"

export interface CustomRole {
  readonly id: Uuid
  readonly organization_id: Uuid
  /** In lower case; unique in the organization. */
  readonly name: string
  readonly display_name: string
  /** On every object of the organization. */
  readonly permissions: Grants
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

/** The existing actions of a table of actions by type, each once; without wildcards. */
export const validGrants = (table: Readonly<Record<string, ReadonlyArray<string>>>): Grants => {
  const grants: { [Type in ResourceKind]?: ReadonlyArray<Action> } = {}
  for (const [type, actions] of Object.entries(table)) {
    const valid = Array.from(new Set(actions.filter(isAction))).filter((action) => isValidPermission(type, action))
    if (isResourceKind(type) && valid.length > 0) grants[type] = valid
  }
  return grants
}

/** The grants of a list of permissions. */
export const grantsOf = (permissions: ReadonlyArray<{ readonly resource_type: string; readonly action: string }>): Grants => {
  const table = new Map<string, Set<string>>()
  for (const { action, resource_type } of permissions) {
    const actions = table.get(resource_type)
    if (actions === undefined) table.set(resource_type, new Set([action]))
    else actions.add(action)
  }
  return validGrants(Object.fromEntries(Array.from(table, ([type, actions]) => [type, Array.from(actions)])))
}

/** The role as decisions and readers see it. */
export const roleOf = (role: Pick<CustomRole, "name" | "display_name" | "organization_id" | "permissions">): Role => ({
  name: role.name,
  display_name: role.display_name,
  organization_id: role.organization_id,
  allow: { org: role.permissions },
  deny: {}
})

/**
 * The grants, as `type:action`, that the subject does not hold itself on every object of the organization with the credential in use. An
 * actor may not give them to others.
 */
export const beyond = (subject: Subject, organizationId: string, grants: Grants): ReadonlyArray<string> =>
  pairsOf(grants)
    .filter(({ action, type }) => !permits(subject, action, { type, org: organizationId }))
    .map(({ action, type }) => `${type}:${action}`)

/**
 * Whether the subject holds every permission that the organization's roles may ever contain. These are the permissions of deployment
 * owners, since no role exceeds its author's.
 */
export const holdsWhateverRolesAllow = (subject: Subject, organizationId: string): boolean => {
  const owner = expandRoles(["owner"], { options: subject.options }).map((role) => ({ role, organizationId: undefined }))
  const scope = expandScopes([allScope])
  const owners = subjectOf({ ...subject, roles: owner, groups: [], scope, allowList: unrestrictedAllowList })
  return resourceTypes.every((type) =>
    actionsOf(type).every((action) => {
      const object = { type, org: organizationId }
      return permits(subject, action, object) || !permits(owners, action, object)
    })
  )
}

const pairsOf = (grants: Grants): ReadonlyArray<{ readonly type: ResourceType; readonly action: Action }> =>
  resourceTypes.flatMap((type) => actionsOf(type).flatMap((action) => (grants[type]?.includes(action) ? [{ type, action }] : [])))
