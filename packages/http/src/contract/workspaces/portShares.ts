/** How far ports of workspaces are shared, and what becomes of builds and agents. workspaces.md §6.3, §6.4, §7.2. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { ConnectionWatchEvent as ConnectionEvent, EndedBuild, PortShare } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, integer, needed, Path, Query, text } from "../../wire/input.js"
import { Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const workspace = Path({ workspace: Uuid.Uuid })

const WorkspacePortShare = PortShare.annotations({ identifier: "WorkspaceAgentPortShare" })
const WorkspacePortShares = Schema.Struct({ shares: Schema.Array(WorkspacePortShare) }).annotations({
  identifier: "WorkspaceAgentPortShares"
})

export const portShares = HttpApiGroup.make("portShares")
  .annotate(OpenApi.Description, "Shared ports of workspaces.")
  .add(
    HttpApiEndpoint.get("listPortShares", "/api/v2/workspaces/:workspace/port-share")
      .annotateContext(operation("List port shares", "Returns the shared ports of a workspace, by port."))
      .setPath(workspace)
      .addSuccess(WorkspacePortShares)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("sharePort", "/api/v2/workspaces/:workspace/port-share")
      .annotateContext(operation("Share a port", "Shares a port of an agent, or changes how far it is shared."))
      .setPath(workspace)
      .setPayload(Body({ agent_name: needed(text), port: needed(integer), share_level: needed(text), protocol: needed(text) }))
      .addSuccess(WorkspacePortShare)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("unsharePort", "/api/v2/workspaces/:workspace/port-share")
      .annotateContext(operation("End a port share", "Makes a shared port its owner's again."))
      .setPath(workspace)
      .setPayload(Body({ agent_name: text, port: integer }))
      .addSuccess(HttpApiSchema.Empty(200))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)

export const ConnectionWatchEvent = ConnectionEvent.annotations({ identifier: "ConnectionWatchEvent" })
export const EndedWorkspaceBuild = EndedBuild.annotations({ identifier: "EndedWorkspaceBuild" })

export const buildWatches = HttpApiGroup.make("buildWatches")
  .annotate(OpenApi.Description, "What becomes of builds and agents.")
  .add(
    HttpApiEndpoint.get("watchAgentConnection", "/api/v2/workspaces/:workspace/agent-connection-watch")
      .annotateContext(
        operation(
          "Watch an agent's connection",
          "Sends the state of a workspace's latest build and of its agent over a WebSocket, at first and after each change."
        )
      )
      .setPath(workspace)
      .setUrlParams(Query({ agent_name: text }))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(Messages, { schema: ConnectionWatchEvent, framing: "values", resume: "snapshot" })
  )
  .add(
    HttpApiEndpoint.get("watchAllWorkspaceBuilds", "/api/experimental/watch-all-workspacebuilds")
      .annotateContext(operation("Watch all builds", "Sends each build that has ended over a WebSocket, if the experiment is on."))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("Forbidden", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(Messages, { schema: EndedWorkspaceBuild, framing: "values", resume: "snapshot" })
  )
  .middlewareEndpoints(Authenticated)
