/** The private network by which clients reach agents. agents-and-apps.md §12, §15, §16. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { RelayMap } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { firstText, Path, Query } from "../../wire/input.js"
import { Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const ConnectionInfo = Schema.Struct({
  derp_map: RelayMap,
  derp_force_websockets: Schema.Boolean,
  disable_direct_connections: Schema.Boolean,
  /** The suffix of workspaces' names in the clients' own name service; absent without one. */
  hostname_suffix: Schema.optional(Schema.String)
}).annotations({ identifier: "AgentConnectionInfo" })

const byId = Path({ workspaceagent: Uuid.Uuid })

const html = HttpApiSchema.Text({ contentType: "text/html; charset=utf-8" })

const upgraded = HttpApiSchema.Empty(101)

const rpcQuery = Query({
  /** The version of the interface that the client speaks. */
  version: firstText,
  /** What `RefreshResumeToken` answered: the client comes back as the same peer. */
  resume_token: firstText
})

export const network = HttpApiGroup.make("network")
  .annotate(OpenApi.Description, "The private network by which clients reach agents.")
  .add(
    HttpApiEndpoint.get("getConnectionInfo", "/api/v2/workspaceagents/connection")
      .annotateContext(operation("Get connection settings", "Returns what a client needs to know before it connects to any agent."))
      .addSuccess(ConnectionInfo)
  )
  .add(
    HttpApiEndpoint.get("getAgentConnectionInfo", "/api/v2/workspaceagents/:workspaceagent/connection")
      .annotateContext(
        operation("Get an agent's connection settings", "Returns what a client needs to know before it connects to the agent.")
      )
      .setPath(byId)
      .addSuccess(ConnectionInfo)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("watchRelayMap", "/api/v2/derp-map")
      .annotateContext(
        operation("Watch the relay map", "Sends the relays of the deployment over a WebSocket: first the present map, then each change.")
      )
      .addSuccess(upgraded)
      .addError(refusals("UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(Messages, { schema: RelayMap, framing: "values", resume: "snapshot" })
  )
  .add(
    HttpApiEndpoint.get("connectToNetwork", "/api/v2/tailnet")
      .annotateContext(
        operation("Connect to the network", "Upgrades to the WebSocket over which a client asks for tunnels to any of its agents.")
      )
      .setUrlParams(rpcQuery)
      .addSuccess(upgraded)
      .addError(refusals("Conflict", "Unauthenticated", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("coordinateAgent", "/api/v2/workspaceagents/:workspaceagent/coordinate")
      .annotateContext(operation("Connect to an agent", "Upgrades to the WebSocket over which a client asks for a tunnel to one agent."))
      .setPath(byId)
      .setUrlParams(rpcQuery)
      .addSuccess(upgraded)
      .addError(refusals("Conflict", "NotFound", "Unauthenticated", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .add(
    HttpApiEndpoint.get("showCoordinator", "/api/v2/debug/coordinator")
      .annotateContext(
        operation("Show the coordinator", "Returns a page with the peers of the private network, their addresses and their tunnels.")
      )
      .addSuccess(html)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("showAgentLinks", "/api/v2/debug/tailnet")
      .annotateContext(
        operation(
          "Show connected agents",
          "Returns a page with the agents that the answering process reaches through their own connections."
        )
      )
      .addSuccess(html)
      .addError(refusals("Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
