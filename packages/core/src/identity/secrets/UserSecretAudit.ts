/** Users' secrets as audit entries show them. notifications-audit-insights.md §B3. */
import type { Subject } from "../../audit/Audit.js"
import { audited, auditedResource, ignored, secret } from "../../audit/AuditedResource.js"
import type { AuditAction } from "../../audit/AuditEntry.js"
import type { UserSecret } from "./UserSecret.js"

interface AuditedSecret extends UserSecret {
  /** Another text where the value has changed; never the value. */
  readonly value?: string
}

const secretAudit = auditedResource<AuditedSecret>({
  type: "user_secret",
  endsRightsOf: "none",
  fields: {
    id: audited,
    user_id: audited,
    name: audited,
    description: audited,
    env_name: audited,
    file_path: audited,
    enabled: audited,
    value_size: ignored,
    created_at: ignored,
    updated_at: ignored,
    value: secret
  }
})

/** The subject of audit entries about a secret. */
export const secretSubject = (action: AuditAction, { id, name }: UserSecret): Subject<AuditedSecret> => ({
  action,
  resource: secretAudit,
  id,
  // A refused one may have any length
  target: name.slice(0, 256)
})
