/** The operations of agents about themselves, each with its token. agents-and-apps.md §6, §10, §13. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { AgentReinitialization } from "@atelier/core/agents"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { acknowledgement, ReferenceStatus } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { acceptNul, Body, firstText, flag, flagParameter, list, Query, required, text } from "../../wire/input.js"
import { Messages, operation, Streaming } from "../annotations.js"
import { AgentAuthenticated } from "../authentication.js"
import { WorkspaceAgentLogSource } from "./agentViews.js"

/** Lines of one call: an agent that could not reach the service sends many at once. */
const maximumLogLines = 2000

const upgraded = HttpApiSchema.Empty(101)

/** A token for programs in a workspace, and how git sends it. */
const AgentExternalAuth = Schema.Struct({
  access_token: Schema.Redacted(Schema.String),
  type: Schema.String,
  /** Members of the provider's answer that the configuration names. */
  token_extra: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  /** The year 1 for a token that does not expire. */
  expires_at: Timestamp.Timestamp,
  /** Where the workspace's owner signs in; empty with a token. */
  url: Schema.String,
  username: Schema.Redacted(Schema.String),
  password: Schema.Redacted(Schema.String)
}).annotations({ identifier: "ExternalAuthResponse" })

const agentExternalAuth = <const Name extends string, const Route extends `/${string}`>(name: Name, path: Route) =>
  HttpApiEndpoint.get(name, path)
    .setUrlParams(
      Query({
        /** The address of a repository, or its host. */
        match: text,
        /** The same under its older name. */
        url: text,
        /** The id of a provider. */
        id: text,
        /** Given with whatever value, waits until the workspace's owner has signed in. */
        listen: Schema.optional(Schema.String)
      })
    )
    .addSuccess(AgentExternalAuth)
    .addError(refusals("Forbidden", "NotFound", "UpstreamFailure"))

export const ownAgent = HttpApiGroup.make("ownAgent")
  .annotate(OpenApi.Description, "Operations for agents about themselves.")
  .add(
    HttpApiEndpoint.post("addAgentLogSource", "/api/v2/workspaceagents/me/log-source")
      .annotate(ReferenceStatus, 201)
      .annotateContext(operation("Add a log source", "Names a source of the calling agent's logs."))
      .setPayload(Body({ id: required(Uuid.Uuid), display_name: text, icon: text }))
      .addSuccess(WorkspaceAgentLogSource)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("addAgentLogs", "/api/v2/workspaceagents/me/logs")
      .annotateContext(operation("Add log lines", "Stores log lines of the calling agent."))
      .setPayload(
        acceptNul(Body({ log_source_id: Schema.optional(Uuid.Uuid), logs: list(Body({ level: text, output: text }), maximumLogLines) }))
      )
      .addSuccess(acknowledgement(Response, { message: "The logs have been stored." }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("setAgentAppStatus", "/api/v2/workspaceagents/me/app-status")
      .annotateContext(operation("Report an app's status", "Stores the status of an app of the calling agent."))
      .setPayload(acceptNul(Body({ app_slug: text, state: text, message: text, uri: text, icon: text, needs_user_attention: flag })))
      .addSuccess(acknowledgement(Response, { message: "The status has been stored." }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getAgentGitSshKey", "/api/v2/workspaceagents/me/gitsshkey")
      .annotateContext(
        operation("Get the owner's git SSH key", "Returns both halves of the workspace owner's key for git to the calling agent.")
      )
      .addSuccess(
        Schema.Struct({ public_key: Schema.String, private_key: Schema.Redacted(Schema.String) }).annotations({
          identifier: "AgentGitSSHKey"
        })
      )
      .addError(refusals("Forbidden", "NotFound"))
  )
  .add(
    agentExternalAuth("getAgentExternalAuth", "/api/v2/workspaceagents/me/external-auth").annotateContext(
      operation(
        "Get a token of an external provider",
        "Returns the token of the workspace's owner at a provider, or the address where the owner signs in. With `listen`, waits for the token."
      )
    )
  )
  .add(
    agentExternalAuth("getAgentGitAuth", "/api/v2/workspaceagents/me/gitauth").annotateContext(
      operation("Get a token of a git host", "Returns the same token as external authentication does. Kept for older clients.")
    )
  )
  .add(
    HttpApiEndpoint.get("getAgentReinitialization", "/api/v2/workspaceagents/me/reinit")
      .annotateContext(
        operation(
          "Get an agent's reinitialization",
          "Tells the agent of a prebuilt workspace by a server-sent event that the workspace has an owner."
        )
      )
      .setUrlParams(Query({ wait: flagParameter }))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(refusals("Conflict"))
      .annotate(Streaming, true)
      .annotate(Messages, {
        schema: AgentReinitialization.annotations({ identifier: "ReinitializationEvent" }),
        framing: "events",
        resume: "snapshot"
      })
  )
  .add(
    HttpApiEndpoint.get("connectAgent", "/api/v2/workspaceagents/me/rpc")
      .annotateContext(operation("Connect an agent", "Upgrades to the WebSocket over which an agent and the service call each other."))
      .setUrlParams(Query({ version: firstText, role: firstText }))
      .addSuccess(upgraded)
      .addError(refusals("Forbidden", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .middlewareEndpoints(AgentAuthenticated)
