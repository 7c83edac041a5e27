import { Schema } from "effect"
import { Timestamp } from "../platform/Timestamp.js"
import { Uuid } from "../platform/Uuid.js"

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
  "request_password_reset"
)
export type AuditAction = typeof AuditAction.Type

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
  resource_type: Schema.String,
  resource_id: Uuid,
  resource_target: Schema.String,
  action: AuditAction,
  diff: AuditDiff,
  /** The status of the answer. */
  status_code: Schema.Number,
  additional_fields: Schema.Record({ key: Schema.String, value: Schema.String }),
  request_id: Uuid
})
export interface AuditEntry extends Schema.Schema.Type<typeof AuditEntry> {}
