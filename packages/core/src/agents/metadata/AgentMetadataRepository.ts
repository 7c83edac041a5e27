import { Context, type Effect } from "effect"
import type { AgentMetadata } from "./AgentMetadata.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** A value that an agent collected. */
export type MetadataValue = Pick<AgentMetadata, "workspace_agent_id" | "key" | "value" | "error" | "collected_at">

export class AgentMetadataRepository extends Context.Tag("@atelier/core/AgentMetadataRepository")<
  AgentMetadataRepository,
  {
    /** By display order, then key. */
    readonly ofAgent: (id: WorkspaceAgentId) => Effect.Effect<ReadonlyArray<AgentMetadata>>
    /** Writes values of any number of agents in one statement; keys that no agent has are left out. */
    readonly update: (values: ReadonlyArray<MetadataValue>) => Effect.Effect<void>
  }
>() {}
