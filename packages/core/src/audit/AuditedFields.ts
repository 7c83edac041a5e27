/**
 * The fields that audit entries show of each resource; of secret ones they only show that they changed. notifications-audit-insights.md §B3.
 */
import { Equal } from "effect"
import { never, type Timestamp } from "../platform/time/Timestamp.js"
import type { AuditChange, AuditDiff } from "./AuditEntry.js"

interface AuditedFields {
  readonly fields: ReadonlyArray<string>
  readonly secrets?: ReadonlyArray<string>
}

export const auditedFields = {
  user: {
    fields: [
      "id",
      "email",
      "username",
      "name",
      "status",
      "rbac_roles",
      "login_type",
      "deleted",
      "quiet_hours_schedule",
      "one_time_passcode_expires_at",
      "is_system",
      "is_service_account"
    ],
    secrets: ["hashed_password"]
  },
  api_key: { fields: ["user_id", "last_used", "expires_at", "created_at"] },
  user_secret: { fields: ["id", "user_id", "name", "description", "env_name", "file_path", "enabled"], secrets: ["value"] },
  git_ssh_key: { fields: ["user_id", "public_key"], secrets: ["private_key"] },
  convert_login: { fields: ["created_at", "expires_at", "from_login_type", "to_login_type", "user_id"] },
  organization: {
    fields: [
      "name",
      "display_name",
      "description",
      "icon",
      "deleted",
      "updated_at",
      "is_default",
      "shareable_workspace_owners",
      "default_org_member_roles"
    ]
  },
  group: { fields: ["id", "name", "display_name", "avatar_url", "quota_allowance", "members"] },
  idp_sync_settings_organization: { fields: ["field", "mapping", "assign_default"] },
  idp_sync_settings_group: { fields: ["field", "mapping", "regex_filter", "auto_create_missing_groups"] },
  idp_sync_settings_role: { fields: ["field", "mapping"] },
  oauth2_provider_app: {
    fields: [
      "name",
      "icon",
      "callback_url",
      "redirect_uris",
      "client_type",
      "dynamically_registered",
      "token_endpoint_auth_method",
      "grant_types",
      "response_types",
      "scope",
      "contacts",
      "client_uri",
      "logo_uri",
      "tos_uri",
      "policy_uri",
      "jwks_uri",
      "software_id",
      "software_version"
    ],
    secrets: ["jwks", "registration_access_token"]
  },
  oauth2_provider_app_secret: { fields: [] },
  oauth2_provider_settings: { fields: ["dynamic_client_registration_enabled"] },
  ai_provider: { fields: ["id", "type", "name", "display_name", "icon", "enabled", "base_url"], secrets: ["settings"] },
  ai_provider_key: { fields: ["id", "provider_id", "api_key"] },
  license: { fields: ["uploaded_at", "exp", "uuid"] },
  group_ai_budget: { fields: ["spend_limit"] },
  user_ai_budget_override: { fields: ["group_id", "group_name", "spend_limit"] },
  custom_role: {
    fields: ["name", "display_name", "site_permissions", "org_permissions", "user_permissions", "member_permissions"]
  },
  organization_member: { fields: ["username", "user_id", "created_at", "updated_at", "roles"] },
  template: {
    fields: [
      "id",
      "name",
      "display_name",
      "description",
      "icon",
      "provisioner",
      "active_version_id",
      "default_ttl",
      "activity_bump",
      "autostart_block_days_of_week",
      "autostop_requirement_days_of_week",
      "autostop_requirement_weeks",
      "created_by",
      "group_acl",
      "user_acl",
      "allow_user_autostart",
      "allow_user_autostop",
      "allow_user_cancel_workspace_jobs",
      "failure_ttl",
      "time_til_dormant",
      "time_til_dormant_autodelete",
      "time_til_autostop_notify",
      "require_active_version",
      "deprecated",
      "max_port_sharing_level",
      "use_classic_parameter_flow",
      "cors_behavior",
      "disable_module_cache",
      "agents_allowed"
    ]
  },
  template_version: { fields: ["id", "template_id", "name", "readme", "created_by", "archived"] },
  workspace: {
    fields: [
      "id",
      "owner_id",
      "template_id",
      "name",
      "autostart_schedule",
      "ttl",
      "dormant_at",
      "deleting_at",
      "automatic_updates",
      "favorite",
      "next_start_at",
      "group_acl",
      "user_acl"
    ]
  },
  workspace_build: { fields: ["template_version_id"] },
  health_settings: { fields: ["dismissed_healthchecks"] },
  notifications_settings: { fields: ["notifier_paused"] },
  prebuilds_settings: { fields: ["reconciliation_paused"] },
  notification_template: { fields: ["method"] },
  workspace_proxy: {
    fields: [
      "id",
      "name",
      "display_name",
      "icon",
      "url",
      "wildcard_hostname",
      "created_at",
      "derp_enabled",
      "derp_only",
      "region_id",
      "version"
    ],
    secrets: ["token_hashed_secret"]
  },
  task: { fields: ["id", "owner_id", "name", "display_name", "workspace_id", "template_version_id", "prompt"] }
} as const satisfies Record<string, AuditedFields>

export type AuditResourceType = keyof typeof auditedFields

type Fields = Readonly<Record<string, unknown>>

/** Times that an object always has; the empty one is the first of the calendar. §B4. */
const times: ReadonlySet<string> = new Set(["created_at", "updated_at", "expires_at", "last_used", "uploaded_at", "exp", "first_used_at"])

/** A time that an object may not have, as entries show it. §B4. */
export const auditedTime = (at: Timestamp | null) => ({ Time: at ?? never, Valid: at !== null })

const absentTime = auditedTime(null)

const isAuditedTime = (value: unknown): boolean => typeof value === "object" && value !== null && "Valid" in value

/** A text that an object may not have, as entries show its absence. §B4. */
export const absentText = "null"

/** Texts that an object of a type may not have. */
const absentTexts: ReadonlySet<string> = new Set(["template_version.template_id", "workspace.autostart_schedule"])

/** The ACL of a template that names no user or group. */
const emptyAcl = "map[]"

/** Lists without an empty value: a creation shows no old one, a deletion no new one. §B4. */
const bareLists: ReadonlySet<string> = new Set(["rbac_roles", "roles", "default_org_member_roles", "members"])

/** Secrets that are no text: an entry shows neither side. */
const byteSecrets: ReadonlySet<string> = new Set(["hashed_password", "token_hashed_secret", "hashed_secret"])

const empty = (type: AuditResourceType, field: string, value: unknown): unknown => {
  if (value === undefined || bareLists.has(field)) return null
  if (isAuditedTime(value)) return absentTime
  if (absentTexts.has(`${type}.${field}`)) return absentText
  if (typeof value === "string" && (field === "user_acl" || field === "group_acl")) return emptyAcl
  if (times.has(field) && value !== null) return never
  if (typeof value === "string") return ""
  if (typeof value === "number") return 0
  if (typeof value === "boolean") return false
  if (Array.isArray(value)) return []
  return null
}

/** Records that leave out a field, and those that have it as null, say the same. */
const isSame = (left: unknown, right: unknown): boolean =>
  Equal.equals(left, right) || JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

const side = (key: "old" | "new", value: unknown): Partial<AuditChange> => (value === null || value === undefined ? {} : { [key]: value })

/** The audited fields that differ. A missing side is one of empty values: `before` on create, `after` on delete. §B4. */
export const diff = (type: AuditResourceType, before: object | undefined, after: object | undefined): AuditDiff => {
  const { fields, secrets = [] }: AuditedFields = auditedFields[type]
  const old: Fields = { ...before }
  const new_: Fields = { ...after }
  const changes: Record<string, AuditChange> = {}
  for (const field of [...fields, ...secrets]) {
    const secret = secrets.includes(field)
    const left = before === undefined ? empty(type, field, new_[field]) : old[field]
    const right = after === undefined ? empty(type, field, old[field]) : new_[field]
    if (isSame(left, right)) continue
    changes[field] = secret
      ? { ...(byteSecrets.has(field) ? {} : { old: "", new: "" }), secret }
      : { ...side("old", left), ...side("new", right), secret }
  }
  return changes
}
