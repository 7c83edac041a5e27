import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { WorkspaceAgentId } from "../WorkspaceAgent.js"

export const ScriptStage = Schema.Literal("start", "stop", "cron")
export type ScriptStage = typeof ScriptStage.Type

export const ScriptStatus = Schema.Literal("ok", "exit_failure", "timed_out", "pipes_left_open")
export type ScriptStatus = typeof ScriptStatus.Type

/** A script the template gives an agent to run. Every script owns a log source. agents-and-apps.md §7. */
export const AgentScript = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  workspace_agent_id: WorkspaceAgentId,
  log_source_id: Uuid,
  display_name: Schema.String,
  log_path: Schema.String,
  script: Schema.String,
  /** Six fields, seconds first; empty when it is not scheduled. */
  cron: Schema.String,
  start_blocks_login: Schema.Boolean,
  run_on_start: Schema.Boolean,
  run_on_stop: Schema.Boolean,
  /** 0 has no limit. */
  timeout_seconds: Schema.Number,
  /** Of the run that started last; null when it never ran. */
  exit_code: Schema.NullOr(Schema.Number),
  status: Schema.NullOr(ScriptStatus)
})
export interface AgentScript extends Schema.Schema.Type<typeof AgentScript> {}

/** One run of a script. */
export const ScriptTiming = Schema.Struct({
  script_id: Uuid,
  started_at: Timestamp,
  ended_at: Timestamp,
  exit_code: Schema.Number,
  stage: ScriptStage,
  status: ScriptStatus
})
export interface ScriptTiming extends Schema.Schema.Type<typeof ScriptTiming> {}

/** A run of a script as readers of a build see it. workspaces.md §4.6. */
export const ScriptTimingView = Schema.Struct({
  started_at: Timestamp,
  ended_at: Timestamp,
  exit_code: Schema.Int,
  stage: ScriptStage,
  status: ScriptStatus,
  /** The script's. */
  display_name: Schema.String,
  workspace_agent_id: WorkspaceAgentId,
  workspace_agent_name: Schema.String
})
export interface ScriptTimingView extends Schema.Schema.Type<typeof ScriptTimingView> {}
