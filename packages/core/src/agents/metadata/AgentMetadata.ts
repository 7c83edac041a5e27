import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** A value an agent collects by running a script every few seconds, with what it last collected. agents-and-apps.md §8. */
export const AgentMetadata = Schema.Struct({
  workspace_agent_id: WorkspaceAgentId,
  key: Schema.String,
  display_name: Schema.String,
  script: Schema.String,
  /** Seconds. */
  interval: Schema.Number,
  /** Seconds. */
  timeout: Schema.Number,
  display_order: Schema.Number,
  value: Schema.String,
  error: Schema.String,
  /** The year 1 when it was never collected. */
  collected_at: Timestamp
})
export interface AgentMetadata extends Schema.Schema.Type<typeof AgentMetadata> {}
