/** Roles of organizations as audit entries show them. notifications-audit-insights.md §B4. */
import { type CustomRole, roleOf } from "../access/roles/CustomRole.js"
import { permissionsOf } from "../access/roles/Role.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedResource, ignored } from "../audit/AuditedResource.js"
import type { RequestedPermission } from "./CustomRoleRules.js"

/** A role with its permissions as entries show them. */
interface AuditedRole extends Omit<CustomRole, "permissions"> {
  readonly site_permissions: ReadonlyArray<string>
  readonly org_permissions: ReadonlyArray<string>
  readonly user_permissions: ReadonlyArray<string>
  readonly member_permissions: ReadonlyArray<string>
}

const roleAudit = auditedResource<AuditedRole>({
  type: "custom_role",
  endsRightsOf: "everyone",
  fields: {
    id: ignored,
    organization_id: ignored,
    name: audited,
    display_name: audited,
    created_at: ignored,
    updated_at: ignored,
    site_permissions: audited,
    org_permissions: audited,
    user_permissions: audited,
    member_permissions: audited
  }
})

export const roleRecord = ({ permissions, ...role }: CustomRole): AuditedRole => {
  const { organization_member_permissions, organization_permissions, site_permissions, user_permissions } = permissionsOf(
    roleOf({ ...role, permissions })
  )
  return {
    ...role,
    site_permissions: site_permissions.map(inWords),
    org_permissions: organization_permissions.map(inWords),
    user_permissions: user_permissions.map(inWords),
    member_permissions: organization_member_permissions.map(inWords)
  }
}

/** A permission as entries show it. notifications-audit-insights.md §B4. */
const inWords = ({ action, negate, resource_type }: RequestedPermission): string => `${negate ? "-" : ""}${resource_type}.${action}`

export const roleSubject = (action: AuditAction, role: Pick<CustomRole, "id" | "name" | "organization_id">) => ({
  action,
  resource: roleAudit,
  id: role.id,
  // A refused one may have any length
  target: role.name.slice(0, 64),
  organization_id: role.organization_id
})
