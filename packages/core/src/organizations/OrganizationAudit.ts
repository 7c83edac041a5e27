/** Organizations as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedList, auditedResource, auditedTime, ignored } from "../audit/AuditedResource.js"
import type { Organization } from "./Organization.js"

export const organizationAudit = auditedResource<Organization>({
  type: "organization",
  endsRightsOf: "everyone",
  fields: {
    id: ignored,
    name: audited,
    display_name: audited,
    description: audited,
    icon: audited,
    deleted: audited,
    created_at: ignored,
    updated_at: auditedTime,
    is_default: audited,
    shareable_workspace_owners: audited,
    default_org_member_roles: auditedList
  }
})
