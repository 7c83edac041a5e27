/** Records of actions and of connections. notifications-audit-insights.md §B, workspaces.md §10. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { AuditAction, AuditDiff, AuditedType, AuditEntry } from "@atelier/core/audit"
import { ConnectionType, MinimalOrganization } from "@atelier/core/logs"
import { Numbers, Pagination, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { boundedMap, Body, page, Query, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { User } from "../identity/users.js"

const AuditLog = Schema.Struct({
  ...AuditEntry.omit("user_id").fields,
  diff: AuditDiff.annotations({ identifier: "AuditDiff" }),
  user: Schema.NullOr(User),
  organization: Schema.optional(MinimalOrganization),
  resource_icon: Schema.String,
  is_deleted: Schema.Boolean,
  description: Schema.String,
  resource_link: Schema.String
}).annotations({ identifier: "AuditLog" })

const counts = {
  count: Numbers.described(Numbers.Integer, "All matching entries, counted up to one more than `count_cap`."),
  count_cap: Numbers.Integer
}

const AuditLogResponse = Schema.Struct({ audit_logs: Schema.Array(AuditLog), ...counts }).annotations({ identifier: "AuditLogResponse" })

/** A session: one that an agent reports, or one that goes through the service, which knows its user and program. */
const SshInfo = Schema.Struct({
  connection_id: Uuid.Uuid,
  disconnect_time: Schema.optional(Timestamp.Timestamp),
  disconnect_reason: Schema.optional(Schema.String),
  exit_code: Schema.optional(Numbers.Integer),
  user: Schema.optional(User),
  user_agent: Schema.optional(Schema.String)
}).annotations({ identifier: "ConnectionLogSSHInfo" })

/** A connection through the service. */
const WebInfo = Schema.Struct({
  user_agent: Schema.String,
  user: Schema.NullOr(User),
  slug_or_port: Schema.String,
  status_code: Numbers.Integer
}).annotations({ identifier: "ConnectionLogWebInfo" })

const ConnectionLog = Schema.Struct({
  id: Uuid.Uuid,
  connect_time: Timestamp.Timestamp,
  organization: MinimalOrganization,
  workspace_owner_id: Uuid.Uuid,
  workspace_owner_username: Schema.String,
  workspace_id: Uuid.Uuid,
  workspace_name: Schema.String,
  agent_name: Schema.String,
  ip: Schema.optional(Schema.String),
  type: ConnectionType,
  ssh_info: Schema.optional(SshInfo),
  web_info: Schema.optional(WebInfo)
}).annotations({ identifier: "ConnectionLog" })
export interface ConnectionLog extends Schema.Schema.Type<typeof ConnectionLog> {}

const ConnectionLogResponse = Schema.Struct({ connection_logs: Schema.Array(ConnectionLog), ...counts }).annotations({
  identifier: "ConnectionLogResponse"
})

/** A bound that is read after the permission is checked: callers who may read nothing hear only that. */
const lateBound = Schema.optional(Schema.String.annotations({ jsonSchema: { type: "integer", minimum: 0, maximum: Pagination.maximum } }))
const lateId = Schema.optional(Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }))

/** The parameters of a page as `listAuditLogs` reads them. */
export const AuditPage = Query(page)

export const audit = HttpApiGroup.make("audit")
  .annotate(OpenApi.Description, "Records of what users did and of who connected to workspaces.")
  .add(
    HttpApiEndpoint.get("listAuditLogs", "/api/v2/audit")
      .annotateContext(
        operation("List audit entries", "Returns the entries that the caller may see, filtered by `q`, newest first, in pages.")
      )
      .setUrlParams(Query({ q: text, after_id: lateId, limit: lateBound, offset: lateBound }))
      .addSuccess(AuditLogResponse)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("generateTestAuditLog", "/api/v2/audit/testgenerate")
      .annotateContext(operation("Create a test audit entry", "Stores an entry of the caller with an example of a change."))
      .setPayload(
        Body({
          action: Schema.optional(AuditAction),
          resource_type: Schema.optional(AuditedType),
          resource_id: Schema.optional(Uuid.Uuid),
          time: Schema.optional(Timestamp.TimestampFromInput),
          additional_fields: Schema.optional(boundedMap(Schema.Unknown, 100)),
          organization_id: Schema.optional(Uuid.Uuid),
          request_id: Schema.optional(Uuid.Uuid),
          build_reason: text
        })
      )
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listConnectionLogs", "/api/v2/connectionlog")
      .annotateContext(
        operation(
          "List connections",
          "Returns the connections to workspaces that the caller may see, filtered by `q`, newest first, in pages."
        )
      )
      .setUrlParams(Query({ q: text, ...page }))
      .addSuccess(ConnectionLogResponse)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
