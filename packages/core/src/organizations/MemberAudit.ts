/** Members of organizations as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedList, auditedResource, auditedTime, ignored } from "../audit/AuditedResource.js"
import type { Member, OrganizationMember } from "./Member.js"

/** Entries about members have the id of the user. */
export const memberAudit = auditedResource<OrganizationMember & Pick<Member, "username">>({
  type: "organization_member",
  endsRightsOf: "user",
  calledBy: "username",
  fields: {
    organization_id: ignored,
    username: audited,
    user_id: audited,
    created_at: auditedTime,
    updated_at: auditedTime,
    roles: auditedList
  }
})
