/** Scripts of an agent, and how they ended. agents-and-apps.md §14. */
import { Duration } from "../Duration.js"
import { bool, bytes, enumeration, field, int32, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const WorkspaceAgentScript = agent("WorkspaceAgentScript", {
  log_source_id: field(1, bytes),
  log_path: field(2, string),
  script: field(3, string),
  cron: field(4, string),
  run_on_start: field(5, bool),
  run_on_stop: field(6, bool),
  start_blocks_login: field(7, bool),
  timeout: field(8, Duration),
  display_name: field(9, string),
  id: field(10, bytes)
})
export type WorkspaceAgentScript = TypeOf<typeof WorkspaceAgentScript>

export const ScriptStage = enumeration({ START: 0, STOP: 1, CRON: 2 })
export type ScriptStage = TypeOf<typeof ScriptStage>

export const ScriptStatus = enumeration({ OK: 0, EXIT_FAILURE: 1, TIMED_OUT: 2, PIPES_LEFT_OPEN: 3 })
export type ScriptStatus = TypeOf<typeof ScriptStatus>

export const Timing = agent("Timing", {
  script_id: field(1, bytes),
  start: field(2, Timestamp),
  end: field(3, Timestamp),
  exit_code: field(4, int32),
  stage: field(5, ScriptStage),
  status: field(6, ScriptStatus)
})
export type Timing = TypeOf<typeof Timing>

export const WorkspaceAgentScriptCompletedRequest = agent("WorkspaceAgentScriptCompletedRequest", { timing: field(1, Timing) })
export type WorkspaceAgentScriptCompletedRequest = TypeOf<typeof WorkspaceAgentScriptCompletedRequest>

export const WorkspaceAgentScriptCompletedResponse = agent("WorkspaceAgentScriptCompletedResponse", {})
