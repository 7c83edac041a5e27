/** Agents as readers of their workspaces see them. agents-and-apps.md §3, §5, §6, §8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { AgentContainers, ListeningPort } from "@atelier/core/agents"
import { Numbers, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals, Response } from "../../wire/errors.js"
import { boundedText, IntegerFromText, Path, Query, text } from "../../wire/input.js"
import { AlsoAnswers, AlsoEvents, logForms, Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { WorkspaceAgent, WorkspaceAgentLog, WorkspaceAgentMetadata } from "./agentViews.js"

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
      .annotate(TrailingSlash, true)
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
