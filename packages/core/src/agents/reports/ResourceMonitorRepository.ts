import { Context, type Effect } from "effect"
import type { ResourceMonitor } from "./ResourceMonitor.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

export class ResourceMonitorRepository extends Context.Tag("@atelier/core/ResourceMonitorRepository")<
  ResourceMonitorRepository,
  {
    /** By path: memory first. */
    readonly ofAgent: (id: WorkspaceAgentId) => Effect.Effect<ReadonlyArray<ResourceMonitor>>
    /** As `ofAgent`, and keeps other transactions from changing them. */
    readonly lockOfAgent: (id: WorkspaceAgentId) => Effect.Effect<ReadonlyArray<ResourceMonitor>>
    /** Writes the state of a monitor. */
    readonly update: (id: WorkspaceAgentId, monitor: ResourceMonitor) => Effect.Effect<void>
  }
>() {}
