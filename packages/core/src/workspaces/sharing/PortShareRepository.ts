import { Context, type Effect } from "effect"
import type { PortShare } from "./PortShare.js"
import type { WorkspaceId } from "../Workspace.js"

export class PortShareRepository extends Context.Tag("@atelier/core/PortShareRepository")<
  PortShareRepository,
  {
    /** By port, then by agent. */
    readonly ofWorkspace: (id: WorkspaceId) => Effect.Effect<ReadonlyArray<PortShare>>
    /** Inserts a share, or replaces that of the same agent and port. */
    readonly upsert: (share: PortShare) => Effect.Effect<void>
    /** False if the share does not exist. */
    readonly delete: (share: Pick<PortShare, "workspace_id" | "agent_name" | "port">) => Effect.Effect<boolean>
  }
>() {}
