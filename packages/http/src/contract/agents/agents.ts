/** Agents: what readers of their workspaces see, and what agents themselves call. agents-and-apps.md §3, §5, §6, §8, §10, §13. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import {
  AgentContainers,
  AgentLog,
  AgentLogSource,
  AgentReinitialization,
  AgentView,
  AppStatusView,
  AppView,
  ListeningPort,
  ResourceView,
  ScriptView
} from "@atelier/core/agents"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { acknowledgement, dialectal, NullableUuid, ReferenceStatus } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import {
  acceptNul,
  Body,
  boundedText,
  firstText,
  flag,
  flagParameter,
  IntegerFromText,
  list,
  Path,
  Query,
  required,
  text
} from "../../wire/input.js"
import { AlsoAnswers, AlsoEvents, logForms, Messages, operation, Streaming } from "../annotations.js"
import { AgentAuthenticated, Authenticated, OptionallyAuthenticated } from "../authentication.js"

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

const { metadata, ...resource } = ResourceView.fields
const Resource = Schema.Struct({ ...resource, agents: Schema.Array(WorkspaceAgent), metadata })

/** A resource of a build or of a template version. The reference leaves out empty lists. */
export const WorkspaceResource = dialectal({
  standard: Resource,
  reference: Schema.transform(
    Schema.Struct({ ...Resource.fields, agents: Schema.optional(Resource.fields.agents), metadata: Schema.optional(metadata) }),
    Schema.typeSchema(Resource),
    {
      strict: true,
      decode: ({ agents = [], metadata = [], ...rest }) => ({ ...rest, agents, metadata }),
      encode: ({ agents, metadata, ...rest }) => ({
        ...rest,
        ...(agents.length === 0 ? {} : { agents }),
        ...(metadata.length === 0 ? {} : { metadata })
      })
    }
  )
}).annotations({ identifier: "WorkspaceResource" })

/** A metadata item of an agent: its description and its latest value. agents-and-apps.md §8. */
export const WorkspaceAgentMetadata = Schema.Struct({
  result: Schema.Struct({
    collected_at: Timestamp.Timestamp,
    age: Numbers.described(Numbers.Integer, "Seconds since the value was collected."),
    value: Schema.String,
    error: Schema.String
  }).annotations({ identifier: "WorkspaceAgentMetadataResult" }),
  description: Schema.Struct({
    display_name: Schema.String,
    key: Schema.String,
    script: Schema.String,
    interval: Numbers.described(Numbers.Count, "Seconds between two runs of the script."),
    timeout: Numbers.described(Numbers.Count, "Seconds that a run may take.")
  }).annotations({ identifier: "WorkspaceAgentMetadataDescription" })
}).annotations({ identifier: "WorkspaceAgentMetadata" })

const byId = Path({ workspaceagent: Uuid.Uuid })

const metadataEvents = { schema: Schema.Array(WorkspaceAgentMetadata), framing: "events", resume: "snapshot" } as const

const upgraded = HttpApiSchema.Empty(101)

const logQuery = {
  after: Schema.optionalWith(
    Numbers.described(
      IntegerFromText.pipe(
        Schema.filter((value) => value >= 0, { message: () => "must not be negative", jsonSchema: { type: "integer", minimum: 0 } })
      ),
      "Returns rows with greater ids."
    ),
    { default: () => 0 }
  ),
  /** Accepted and ignored. */
  before: text,
  /** Given with whatever value, upgrades the connection. */
  follow: Schema.optional(Schema.String),
  /** Accepted and ignored: messages are never compressed. */
  no_compression: text
}

/** Lines of one call: an agent that could not reach the service sends many at once. */
const maximumLogLines = 2000

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
    .annotate(AlsoAnswers, logForms)
    .annotate(Streaming, true)
    .annotate(Messages, { schema: Schema.Array(WorkspaceAgentLog), framing: "values", resume: "after" })

/** Labels of one request. */
const maximumLabels = 50

const label = boundedText(512)

const labels = Schema.optionalWith(Schema.Union(Schema.Array(label).pipe(Schema.maxItems(maximumLabels)), label), { default: () => [] })

const ofDevcontainer = Path({ workspaceagent: Uuid.Uuid, devcontainer: Schema.String })

export const agents = HttpApiGroup.make("agents")
  .annotate(OpenApi.Description, "Agents as readers of their workspaces see them.")
  .add(
    HttpApiEndpoint.get("getAgent", "/api/v2/workspaceagents/:workspaceagent")
      .annotateContext(operation("Get an agent", "Returns a workspace's agent with its apps, scripts and log sources."))
      .setPath(byId)
      .addSuccess(WorkspaceAgent)
      .addError(refusals("NotFound"))
  )
  .add(
    logs("getAgentLogs", "/api/v2/workspaceagents/:workspaceagent/logs").annotateContext(
      operation("Get an agent's logs", "Returns an agent's log lines as JSON or text, or sends them over a WebSocket as they are written.")
    )
  )
  .add(
    logs("getAgentStartupLogs", "/api/v2/workspaceagents/:workspaceagent/startup-logs").annotateContext(
      operation("Get an agent's start-up logs", "Returns the same lines as the agent's logs. Kept for older clients.")
    )
  )
  .add(
    HttpApiEndpoint.get("watchAgentMetadata", "/api/v2/workspaceagents/:workspaceagent/watch-metadata")
      .annotateContext(
        operation("Watch an agent's metadata", "Sends an agent's metadata as server-sent events: first all of it, then what changes.")
      )
      .setPath(byId)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(refusals("NotFound"))
      .annotate(Streaming, true)
      .annotate(Messages, metadataEvents)
  )
  .add(
    HttpApiEndpoint.get("watchAgentMetadataSocket", "/api/v2/workspaceagents/:workspaceagent/watch-metadata-ws")
      .annotateContext(
        operation(
          "Watch an agent's metadata over a WebSocket",
          "Sends an agent's metadata as messages: first all of it, then what changes."
        )
      )
      .setPath(byId)
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(AlsoEvents, true)
      .annotate(Messages, metadataEvents)
  )
  .add(
    HttpApiEndpoint.get("listListeningPorts", "/api/v2/workspaceagents/:workspaceagent/listening-ports")
      .annotateContext(
        operation("List listening ports", "Returns the TCP ports on which programs beside an agent listen, but those of its apps.")
      )
      .setPath(byId)
      .addSuccess(
        Schema.Struct({ ports: Schema.Array(ListeningPort.annotations({ identifier: "WorkspaceAgentListeningPort" })) }).annotations({
          identifier: "WorkspaceAgentListeningPortsResponse"
        })
      )
      .addError(refusals("Invalid", "NotFound", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.get("listContainers", "/api/v2/workspaceagents/:workspaceagent/containers")
      .annotateContext(operation("List containers", "Returns the containers beside an agent that have all of the labels."))
      .setPath(byId)
      .setUrlParams(
        Query({
          /** A key and a value with an equals sign between them. */
          label: labels
        })
      )
      .addSuccess(AgentContainers)
      .addError(refusals("Invalid", "NotFound", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.get("watchContainers", "/api/v2/workspaceagents/:workspaceagent/containers/watch")
      .annotateContext(operation("Watch containers", "Sends the containers beside an agent over a WebSocket: now, and after each change."))
      .setPath(byId)
      .addSuccess(upgraded)
      .addError(refusals("Invalid", "NotFound", "UpgradeRequired", "UpstreamFailure"))
      .annotate(Streaming, true)
      .annotate(AlsoEvents, true)
      .annotate(Messages, { schema: AgentContainers, framing: "values", resume: "snapshot" })
  )
  .add(
    HttpApiEndpoint.del("deleteDevcontainer", "/api/v2/workspaceagents/:workspaceagent/containers/devcontainers/:devcontainer")
      .annotateContext(operation("Delete a devcontainer", "Stops and removes the container of a devcontainer. Its folder stays."))
      .setPath(ofDevcontainer)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Conflict", "Forbidden", "Invalid", "NotFound", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.post("recreateDevcontainer", "/api/v2/workspaceagents/:workspaceagent/containers/devcontainers/:devcontainer/recreate")
      .annotateContext(operation("Recreate a devcontainer", "Begins to make the container of a devcontainer anew."))
      .setPath(ofDevcontainer)
      .addSuccess(Response, { status: 202 })
      .addError(refusals("Conflict", "Forbidden", "Invalid", "NotFound", "UpstreamFailure"))
  )
  .middlewareEndpoints(Authenticated)

/** Terminals. A caller without a credential is told the same as one without the right. agents-and-apps.md §18. */
export const terminals = HttpApiGroup.make("terminals")
  .annotate(OpenApi.Description, "Terminals and ports of workspaces.")
  .add(
    HttpApiEndpoint.get("openTerminal", "/api/v2/workspaceagents/:workspaceagent/pty")
      .annotateContext(
        operation(
          "Open a terminal",
          "Upgrades to a WebSocket of binary messages: typed text and sizes as JSON objects to the terminal, and its output back. The same `reconnect` leads to the same terminal."
        )
      )
      .setPath(byId)
      .setUrlParams(
        Query({
          /** A UUID that the caller chooses. */
          reconnect: text,
          /** Rows; 80 if absent. */
          height: text,
          /** Columns; 80 if absent. */
          width: text,
          /** Runs in place of the login shell. */
          command: text,
          container: text,
          container_user: text,
          backend_type: text
        })
      )
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .middlewareEndpoints(OptionallyAuthenticated)
  .add(
    HttpApiEndpoint.get("connectPort", "/api/v2/workspaceagents/:workspaceagent/tcp")
      .annotateContext(
        operation(
          "Connect to a port",
          "Upgrades to a WebSocket whose binary messages carry the bytes of a TCP connection to a port beside an agent."
        )
      )
      .setPath(byId)
      .setUrlParams(Query({ port: IntegerFromText }))
      .addSuccess(upgraded)
      .addError(refusals("Conflict", "Invalid", "NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.post("issueTerminalToken", "/api/v2/applications/reconnecting-pty-signed-token")
      .annotateContext(
        operation(
          "Issue a token for a terminal",
          "Returns a token that opens an agent's terminal at a workspace proxy, as a query parameter, for a minute."
        )
      )
      .setPayload(
        Body({
          /** The WebSocket address of the terminal at the proxy. */
          url: required(Schema.String),
          agentID: required(Uuid.Uuid)
        })
      )
      .addSuccess(Schema.Struct({ signed_token: Schema.String }).annotations({ identifier: "IssueReconnectingPTYSignedTokenResponse" }))
      .addError(refusals("Invalid", "NotFound"))
      .middleware(Authenticated)
  )

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

const AgentToken = Schema.Struct({ session_token: Schema.Redacted(Schema.String) })

const mustBeText = required(Schema.String)

/** How agents without a token get one, by the proof of their cloud. agents-and-apps.md §2. */
export const instanceIdentities = HttpApiGroup.make("instanceIdentities")
  .annotate(OpenApi.Description, "Tokens for agents that prove who they are by the instance of a cloud.")
  .add(
    HttpApiEndpoint.post("authenticateAwsInstance", "/api/v2/workspaceagents/aws-instance-identity")
      .annotateContext(
        operation("Authenticate an agent on AWS", "Returns the token of the agent that runs on an instance, for its signed document.")
      )
      .setPayload(Body({ document: mustBeText, signature: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )
  .add(
    HttpApiEndpoint.post("authenticateAzureInstance", "/api/v2/workspaceagents/azure-instance-identity")
      .annotateContext(
        operation("Authenticate an agent on Azure", "Returns the token of the agent that runs on a machine, for its signed message.")
      )
      .setPayload(Body({ encoding: mustBeText, signature: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )
  .add(
    HttpApiEndpoint.post("authenticateGoogleInstance", "/api/v2/workspaceagents/google-instance-identity")
      .annotateContext(
        operation(
          "Authenticate an agent on Google Cloud",
          "Returns the token of the agent that runs on an instance, for the instance's token."
        )
      )
      .setPayload(Body({ json_web_token: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )

/** The operations of agents about themselves, each with its token. */
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
