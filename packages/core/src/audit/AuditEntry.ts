import { Schema } from "effect"
import * as Numbers from "../platform/Numbers.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"

/** The actions that audit entries record. notifications-audit-insights.md §B2. */
export const AuditAction = Schema.Literal(
  "create",
  "write",
  "delete",
  "start",
  "stop",
  "login",
  "logout",
  "register",
  "request_password_reset",
  // Of entries from before the connection log, which has these now
  "connect",
  "disconnect",
  "open",
  "close"
).annotations({ identifier: "AuditAction" })
export type AuditAction = typeof AuditAction.Type

/** The types of objects that entries may be about. notifications-audit-insights.md §B2. */
export const AuditedType = Schema.Literal(
  "template",
  "template_version",
  "user",
  "workspace",
  "workspace_build",
  "git_ssh_key",
  "api_key",
  "group",
  "license",
  "convert_login",
  "health_settings",
  "notifications_settings",
  "prebuilds_settings",
  "oauth2_provider_settings",
  "workspace_proxy",
  "organization",
  "oauth2_provider_app",
  "oauth2_provider_app_secret",
  "custom_role",
  "organization_member",
  "notification_template",
  "idp_sync_settings_organization",
  "idp_sync_settings_group",
  "idp_sync_settings_role",
  "workspace_agent",
  "workspace_app",
  "task",
  "ai_seat",
  "ai_provider",
  "ai_provider_key",
  "ai_gateway_key",
  "group_ai_budget",
  "user_ai_budget_override",
  "chat",
  "mcp_server_config",
  "user_secret",
  "user_ssh_key",
  "user_skill",
  "chat_instruction_settings"
).annotations({ identifier: "ResourceType" })
export type AuditedType = typeof AuditedType.Type

/** One changed field; `old` and `new` are absent when null, and the type's empty value where `secret`. §B4. */
export const AuditChange = Schema.Struct({
  old: Schema.optional(Schema.Unknown),
  new: Schema.optional(Schema.Unknown),
  secret: Schema.Boolean
})
export interface AuditChange extends Schema.Schema.Type<typeof AuditChange> {}

export const AuditDiff = Schema.Record({ key: Schema.String, value: AuditChange })
export type AuditDiff = typeof AuditDiff.Type

/** A user's action on an object, with its result. notifications-audit-insights.md §B1. */
export const AuditEntry = Schema.Struct({
  id: Uuid,
  time: Timestamp,
  user_id: Uuid,
  /** The nil UUID: deployment-wide. */
  organization_id: Uuid,
  /** Empty when unknown. */
  ip: Schema.String,
  /** At most 256 characters. */
  user_agent: Schema.String,
  resource_type: AuditedType,
  resource_id: Uuid,
  resource_target: Schema.String,
  action: AuditAction,
  diff: AuditDiff,
  /** The status of the answer. */
  status_code: Numbers.Count,
  additional_fields: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  request_id: Uuid
})
export interface AuditEntry extends Schema.Schema.Type<typeof AuditEntry> {}
