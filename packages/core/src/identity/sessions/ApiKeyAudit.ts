/** Keys as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, auditedTime, ignored } from "../../audit/AuditedResource.js"
import type { ApiKey } from "./ApiKey.js"

/** Entries about keys have the id of their user. */
export const apiKeyAudit = auditedResource<ApiKey>({
  type: "api_key",
  endsRightsOf: "user",
  fields: {
    id: ignored,
    user_id: audited,
    created_at: auditedTime,
    updated_at: ignored,
    last_used: auditedTime,
    expires_at: auditedTime,
    lifetime_seconds: ignored,
    login_type: ignored,
    ip: ignored,
    token_name: ignored,
    scopes: ignored,
    allow_list: ignored
  }
})
