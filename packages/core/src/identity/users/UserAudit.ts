/** Users as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedList, auditedResource, auditedTimeOrNone, byteSecret, ignored } from "../../audit/AuditedResource.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { User } from "./User.js"

/** A user with what entries show of its credentials, where a change is about them. */
export interface AuditedUser extends User {
  readonly hashed_password?: string | null
  readonly one_time_passcode_expires_at?: Timestamp | null
}

export const userAudit = auditedResource<AuditedUser>({
  type: "user",
  endsRightsOf: "user",
  calledBy: "username",
  fields: {
    id: audited,
    email: audited,
    username: audited,
    name: audited,
    avatar_url: ignored,
    status: audited,
    rbac_roles: auditedList,
    login_type: audited,
    created_at: ignored,
    updated_at: ignored,
    last_seen_at: ignored,
    deleted: audited,
    theme_preference: ignored,
    quiet_hours_schedule: audited,
    one_time_passcode_expires_at: auditedTimeOrNone,
    is_system: audited,
    is_service_account: audited,
    hashed_password: byteSecret
  }
})
