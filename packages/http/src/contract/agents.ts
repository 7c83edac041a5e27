/** Agents: what readers of their workspaces see, and what agents themselves call. agents-and-apps.md §3, §5, §6, §8, §10, §13. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { AgentLog, AgentLogSource, AgentView, AppStatusView, AppView, ResourceView, ScriptView } from "@atelier/core/agents"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { acknowledgement, NullableUuid } from "../dialect.js"
import { refusals, Response } from "../errors.js"
import { acceptNul, Body, flag, IntegerFromText, list, Path, Query, required, text } from "../input.js"
import { AgentAuthenticated, Authenticated } from "./authentication.js"

export const WorkspaceAppStatus = AppStatusView.annotations({ identifier: "WorkspaceAppStatus" })

export const WorkspaceApp = Schema.Struct({ ...AppView.fields, statuses: Schema.Array(WorkspaceAppStatus) }).annotations({
  identifier: "WorkspaceApp"
})

export const WorkspaceAgentScript = ScriptView.annotations({ identifier: "WorkspaceAgentScript" })

export const WorkspaceAgentLogSource = AgentLogSource.annotations({ identifier: "WorkspaceAgentLogSource" })

export const WorkspaceAgentLog = AgentLog.annotations({ identifier: "WorkspaceAgentLog" })

export const WorkspaceAgent = Schema.Struct({
  ...AgentView.fields,
  parent_id: NullableUuid,
  apps: Schema.Array(WorkspaceApp),
  scripts: Schema.Array(WorkspaceAgentScript),
  log_sources: Schema.Array(WorkspaceAgentLogSource)
}).annotations({ identifier: "WorkspaceAgent" })

/** A resource of a build or of a template version. */
export const WorkspaceResource = Schema.Struct({ ...ResourceView.fields, agents: Schema.Array(WorkspaceAgent) }).annotations({
  identifier: "WorkspaceResource"
})

/** §8. */
export const WorkspaceAgentMetadata = Schema.Struct({
  result: Schema.Struct({
    collected_at: Timestamp.Timestamp,
    /** Seconds since it was collected. */
    age: Schema.Number,
    value: Schema.String,
    error: Schema.String
  }).annotations({ identifier: "WorkspaceAgentMetadataResult" }),
  description: Schema.Struct({
    display_name: Schema.String,
    key: Schema.String,
    script: Schema.String,
    interval: Schema.Number,
    timeout: Schema.Number
  }).annotations({ identifier: "WorkspaceAgentMetadataDescription" })
}).annotations({ identifier: "WorkspaceAgentMetadata" })

const byId = Path({ workspaceagent: Uuid.Uuid })

const upgraded = HttpApiSchema.Empty(101)

const logQuery = {
  /** Rows with greater ids. */
  after: Schema.optionalWith(IntegerFromText.pipe(Schema.filter((value) => value >= 0, { message: () => "must not be negative" })), {
    default: () => 0
  }),
  /** Accepted and ignored. */
  before: text,
  /** Given with whatever value, upgrades the connection. */
  follow: Schema.optional(Schema.String),
  /** Accepted and ignored: messages are never compressed. */
  no_compression: text
}

const logs = <const Name extends string, const Route extends `/${string}`>(name: Name, path: Route) =>
  HttpApiEndpoint.get(name, path)
    .setPath(byId)
    .setUrlParams(
      Query({
        ...logQuery,
        format: Schema.optionalWith(Schema.Literal("json", "text"), { default: () => "json" as const })
      })
    )
    .addSuccess(Schema.Array(WorkspaceAgentLog))
    .addError(refusals("NotFound", "UpgradeRequired"))

export const agents = HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("getAgent", "/api/v2/workspaceagents/:workspaceagent")
      .setPath(byId)
      .addSuccess(WorkspaceAgent)
      .addError(refusals("NotFound"))
  )
  .add(logs("getAgentLogs", "/api/v2/workspaceagents/:workspaceagent/logs"))
  .add(logs("getAgentStartupLogs", "/api/v2/workspaceagents/:workspaceagent/startup-logs"))
  .add(
    HttpApiEndpoint.get("watchAgentMetadata", "/api/v2/workspaceagents/:workspaceagent/watch-metadata")
      .setPath(byId)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("watchAgentMetadataSocket", "/api/v2/workspaceagents/:workspaceagent/watch-metadata-ws")
      .setPath(byId)
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
  )
  .middlewareEndpoints(Authenticated)

/** What agents call about themselves, each with its token. */
export const ownAgent = HttpApiGroup.make("ownAgent")
  .add(
    HttpApiEndpoint.post("addAgentLogSource", "/api/v2/workspaceagents/me/log-source")
      .setPayload(Body({ id: required(Uuid.Uuid), display_name: text, icon: text }))
      .addSuccess(WorkspaceAgentLogSource)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("addAgentLogs", "/api/v2/workspaceagents/me/logs")
      .setPayload(acceptNul(Body({ log_source_id: Schema.optional(Uuid.Uuid), logs: list(Body({ level: text, output: text })) })))
      .addSuccess(acknowledgement(Response, { message: "The logs have been stored." }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("setAgentAppStatus", "/api/v2/workspaceagents/me/app-status")
      .setPayload(acceptNul(Body({ app_slug: text, state: text, message: text, uri: text, icon: text, needs_user_attention: flag })))
      .addSuccess(acknowledgement(Response, { message: "The status has been stored." }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getAgentGitSshKey", "/api/v2/workspaceagents/me/gitsshkey")
      .addSuccess(
        Schema.Struct({ public_key: Schema.String, private_key: Schema.Redacted(Schema.String) }).annotations({
          identifier: "AgentGitSSHKey"
        })
      )
      .addError(refusals("Forbidden", "NotFound"))
  )
  .add(
    HttpApiEndpoint.get("connectAgent", "/api/v2/workspaceagents/me/rpc")
      .setUrlParams(Query({ version: text, role: text }))
      .addSuccess(upgraded)
      .addError(refusals("Forbidden", "UpgradeRequired"))
  )
  .middlewareEndpoints(AgentAuthenticated)
