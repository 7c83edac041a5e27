/** Agents as readers see them: the stored fields, and those derived at the time of reading. agents-and-apps.md §3, §7. */
import { Duration, Effect, Schema } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Remembered from "../platform/collections/Remembered.js"
import { present } from "../platform/lists/Present.js"
import * as Numbers from "../platform/Numbers.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { DisplayApp } from "../provisioning/engines/ProvisionedResource.js"
import { AgentLifecycle } from "./AgentLifecycle.js"
import { AgentLogSource } from "./logs/AgentLog.js"
import { type AgentScript, ScriptStatus } from "./manifest/AgentScript.js"
import { AgentHealth, AgentStatus, healthOf, inactivityTimeout, statusAt } from "./AgentStatus.js"
import { appView, AppView, type WorkspaceNames } from "./apps/AppView.js"
import type { BuildAgent } from "./resources/BuildResource.js"
import { AgentSubsystem, EnvironmentVariables } from "./WorkspaceAgent.js"

/** The inputs of views beyond the rows. */
export interface ViewContext {
  readonly now: Timestamp.Timestamp
  /** An agent without a sign of life for longer is disconnected. */
  readonly inactive: Duration.Duration
  readonly fallbackTroubleshootingUrl: string
  /** The names of the agents' workspace and owner; null for the resources of a template version. */
  readonly names: WorkspaceNames | null
}

/** The context of this moment in this deployment, for agents of one workspace. */
export const viewContext = (names: WorkspaceNames | null): Effect.Effect<ViewContext> =>
  Effect.gen(function* () {
    const options = yield* DeploymentOptions
    return {
      now: yield* Timestamp.now,
      inactive: inactivityTimeout(options.agentConnectionUpdateInterval),
      fallbackTroubleshootingUrl: options.agentFallbackTroubleshootingUrl,
      names
    }
  })

/** Fields that are left out when they are empty. */
const omitted = Schema.optional(Schema.String)
const instant = Schema.optional(Timestamp.Timestamp)

export const ScriptView = Schema.Struct({
  id: Uuid,
  log_source_id: Uuid,
  log_path: Schema.String,
  script: Schema.String,
  cron: Schema.String,
  run_on_start: Schema.Boolean,
  run_on_stop: Schema.Boolean,
  start_blocks_login: Schema.Boolean,
  timeout: Numbers.described(Numbers.Count, "Nanoseconds that a run may take; 0 sets no limit."),
  display_name: Schema.String,
  /** Of the run that started last; absent when it never ran. */
  exit_code: Schema.optional(Numbers.Integer),
  status: Schema.optional(ScriptStatus)
})
export interface ScriptView extends Schema.Schema.Type<typeof ScriptView> {}

/** How far an agent is from a relay. */
const Latency = Schema.Struct({ latency_ms: Numbers.Milliseconds, preferred: Schema.Boolean })

export const StartupScriptBehavior = Schema.Literal("blocking", "non-blocking")
export type StartupScriptBehavior = typeof StartupScriptBehavior.Type

export const AgentView = Schema.Struct({
  id: Uuid,
  parent_id: Schema.NullOr(Uuid),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  first_connected_at: instant,
  last_connected_at: instant,
  disconnected_at: instant,
  started_at: instant,
  ready_at: instant,
  status: AgentStatus,
  lifecycle_state: AgentLifecycle,
  name: Schema.String,
  resource_id: Uuid,
  instance_id: omitted,
  architecture: Schema.String,
  environment_variables: EnvironmentVariables,
  operating_system: Schema.String,
  logs_length: Numbers.Count,
  logs_overflowed: Schema.Boolean,
  directory: omitted,
  expanded_directory: omitted,
  version: Schema.String,
  api_version: Schema.String,
  /** By the relay's name; absent while no coordinator knows the agent's node. */
  latency: Schema.optional(Schema.Record({ key: Schema.String, value: Latency })),
  apps: Schema.Array(AppView),
  connection_timeout_seconds: Numbers.Count,
  troubleshooting_url: Schema.String,
  subsystems: Schema.Array(AgentSubsystem),
  health: AgentHealth,
  display_apps: Schema.Array(DisplayApp),
  log_sources: Schema.Array(AgentLogSource),
  scripts: Schema.Array(ScriptView),
  startup_script_behavior: StartupScriptBehavior
})
export interface AgentView extends Schema.Schema.Type<typeof AgentView> {}

const scriptView = ({ timeout_seconds, ...script }: AgentScript): ScriptView => ({
  id: script.id,
  log_source_id: script.log_source_id,
  log_path: script.log_path,
  script: script.script,
  cron: script.cron,
  run_on_start: script.run_on_start,
  run_on_stop: script.run_on_stop,
  start_blocks_login: script.start_blocks_login,
  timeout: timeout_seconds * 1e9,
  display_name: script.display_name,
  ...present("exit_code", script.exit_code),
  ...present("status", script.status)
})

/** Logins wait for an agent's start scripts when at least one of them says so. */
const startupScriptBehavior = (scripts: ReadonlyArray<Pick<AgentScript, "run_on_start" | "start_blocks_login">>): StartupScriptBehavior =>
  scripts.some((script) => script.run_on_start && script.start_blocks_login) ? "blocking" : "non-blocking"

/** Views that are kept, as most agents of a list are as they were in the one before. */
const views = Remembered.make<AgentView>(2 ** 21)

export const agentView = (agent: BuildAgent, context: ViewContext): AgentView => {
  const connection = statusAt(agent, context.now, context.inactive)
  const { fallbackTroubleshootingUrl, names } = context
  return views.get(
    agent.id,
    [agent, connection.status, connection.disconnected_at, fallbackTroubleshootingUrl, names?.workspace_name, names?.owner_name],
    () => viewOf(agent, connection, context)
  )
}

const viewOf = (agent: BuildAgent, { disconnected_at, status }: ReturnType<typeof statusAt>, context: ViewContext): AgentView => ({
  id: agent.id,
  parent_id: agent.parent_id,
  created_at: agent.created_at,
  updated_at: agent.updated_at,
  ...present("first_connected_at", agent.first_connected_at),
  ...present("last_connected_at", agent.last_connected_at),
  ...present("disconnected_at", disconnected_at),
  ...present("started_at", agent.started_at),
  ...present("ready_at", agent.ready_at),
  status,
  lifecycle_state: agent.lifecycle_state,
  name: agent.name,
  resource_id: agent.resource_id,
  ...present("instance_id", agent.auth_instance_id),
  architecture: agent.architecture,
  environment_variables: agent.environment_variables,
  operating_system: agent.operating_system,
  logs_length: agent.logs_length,
  logs_overflowed: agent.logs_overflowed,
  ...present("directory", agent.directory),
  ...present("expanded_directory", agent.expanded_directory),
  version: agent.version,
  api_version: agent.api_version,
  apps: agent.apps.map((app) => appView(app, agent.name, context.names)),
  connection_timeout_seconds: agent.connection_timeout_seconds,
  troubleshooting_url: agent.troubleshooting_url === "" ? context.fallbackTroubleshootingUrl : agent.troubleshooting_url,
  subsystems: agent.subsystems,
  health: healthOf(status, agent.lifecycle_state),
  display_apps: DisplayApp.literals.filter((app) => agent.display_apps.includes(app)),
  log_sources: agent.log_sources,
  scripts: agent.scripts.map(scriptView),
  startup_script_behavior: startupScriptBehavior(agent.scripts)
})
