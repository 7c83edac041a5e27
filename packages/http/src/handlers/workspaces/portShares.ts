import { BuildWatches, PortShares } from "@atelier/core/workspaces"
import { Effect } from "effect"
import * as contract from "../../contract/workspaces/portShares.js"
import { ConnectionWatchEvent, EndedWorkspaceBuild } from "../../contract/workspaces/portShares.js"
import { jsonSocket } from "../../sockets/json.js"
import * as Handlers from "../Handlers.js"

export const portShares = Handlers.group(contract.portShares, (handlers) =>
  Effect.map(PortShares, (shares) =>
    handlers
      .handle("listPortShares", ({ path }) => Effect.map(shares.list(path.workspace), (found) => ({ shares: found })))
      .handle("sharePort", ({ path, payload }) => shares.share(path.workspace, payload))
      .handle("unsharePort", ({ path, payload }) => shares.unshare(path.workspace, payload))
  )
)

export const buildWatches = Handlers.group(contract.buildWatches, (handlers) =>
  Effect.map(BuildWatches, (watches) =>
    handlers
      .handle("watchAgentConnection", ({ path, request, urlParams }) =>
        Effect.flatMap(watches.agentConnection(path.workspace, urlParams.agent_name), (events) =>
          jsonSocket(request, ConnectionWatchEvent, events)
        )
      )
      .handle("watchAllWorkspaceBuilds", ({ request }) =>
        Effect.flatMap(watches.ended(), (events) => jsonSocket(request, EndedWorkspaceBuild, events))
      )
  )
)
