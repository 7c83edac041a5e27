/** Licenses as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, auditedTime, ignored } from "../../audit/AuditedResource.js"
import type { License } from "./License.js"

export const licenseAudit = auditedResource<License>({
  type: "license",
  // Features end with it, such as the access that groups give
  endsRightsOf: "everyone",
  fields: { id: ignored, uuid: audited, uploaded_at: auditedTime, exp: auditedTime, token: ignored }
})
