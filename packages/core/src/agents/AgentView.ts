/**
 * Resources, agents and apps as readers see them: what is stored, with everything that is derived from it at the time of reading.
 * agents-and-apps.md §3, §6, §7.
 */
import { Duration, Effect, Schema } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import * as Timestamp from "../platform/Timestamp.js"
import { Uuid } from "../platform/Uuid.js"
import { BuildTransition } from "../provisioning/BuildTransition.js"
import { AppOpenIn, DisplayApp, ResourceMetadata, SharingLevel } from "../provisioning/ProvisionedResource.js"
import { AgentLifecycle } from "./AgentLifecycle.js"
import { AgentLogSource } from "./AgentLog.js"
import type { AgentScript } from "./AgentScript.js"
import { ScriptStatus } from "./AgentScript.js"
import { AgentHealth, AgentStatus, healthOf, inactivityTimeout, statusAt } from "./AgentStatus.js"
import type { BuildAgent, BuildApp, BuildResource } from "./BuildResource.js"
import { AgentSubsystem, EnvironmentVariables } from "./WorkspaceAgent.js"
import { AppHealth, AppState, type AppStatus } from "./WorkspaceApp.js"

/** What views depend on besides the rows. */
export interface ViewContext {
  readonly now: Timestamp.Timestamp
  /** An agent without a sign of life for longer is disconnected. */
  readonly inactive: Duration.Duration
  readonly fallbackTroubleshootingUrl: string
  /** Whose agents they are; null for the resources of a template version. */
  readonly names: WorkspaceNames | null
}

export interface WorkspaceNames {
  readonly workspace_name: string
  readonly owner_name: string
}

/** The context of this moment in this deployment, for agents of one workspace. */
export const viewContext = (names: WorkspaceNames | null): Effect.Effect<ViewContext> =>
  Effect.gen(function* () {
    const options = yield* DeploymentOptions
    return {
      now: yield* Timestamp.now,
      inactive: inactivityTimeout(options.agent_connection_update_interval),
      fallbackTroubleshootingUrl: options.agent_fallback_troubleshooting_url,
      names
    }
  })

/** Fields that are left out when they are empty. */
const omitted = Schema.optional(Schema.String)
const instant = Schema.optional(Timestamp.Timestamp)

export const AppStatusView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp.Timestamp,
  workspace_id: Uuid,
  agent_id: Uuid,
  app_id: Uuid,
  state: AppState,
  message: Schema.String,
  uri: Schema.String,
  /** Always empty. */
  icon: Schema.String,
  /** Always false. */
  needs_user_attention: Schema.Boolean
})
export interface AppStatusView extends Schema.Schema.Type<typeof AppStatusView> {}

export const Healthcheck = Schema.Struct({ url: Schema.String, interval: Schema.Number, threshold: Schema.Number })

export const AppView = Schema.Struct({
  id: Uuid,
  url: omitted,
  external: Schema.Boolean,
  slug: Schema.String,
  display_name: omitted,
  command: omitted,
  icon: omitted,
  subdomain: Schema.Boolean,
  subdomain_name: omitted,
  sharing_level: SharingLevel,
  /** Empty and zero without a check. */
  healthcheck: Healthcheck,
  health: AppHealth,
  group: omitted,
  hidden: Schema.Boolean,
  open_in: AppOpenIn,
  tooltip: omitted,
  /** Newest first. */
  statuses: Schema.Array(AppStatusView)
})
export interface AppView extends Schema.Schema.Type<typeof AppView> {}

export const ScriptView = Schema.Struct({
  id: Uuid,
  log_source_id: Uuid,
  log_path: Schema.String,
  script: Schema.String,
  cron: Schema.String,
  run_on_start: Schema.Boolean,
  run_on_stop: Schema.Boolean,
  start_blocks_login: Schema.Boolean,
  /** Nanoseconds. */
  timeout: Schema.Number,
  display_name: Schema.String,
  /** Of the run that started last; absent when it never ran. */
  exit_code: Schema.optional(Schema.Number),
  status: Schema.optional(ScriptStatus)
})
export interface ScriptView extends Schema.Schema.Type<typeof ScriptView> {}

/** How far an agent is from a relay. */
const Latency = Schema.Struct({ latency_ms: Schema.Number, preferred: Schema.Boolean })

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
  logs_length: Schema.Number,
  logs_overflowed: Schema.Boolean,
  directory: omitted,
  expanded_directory: omitted,
  version: Schema.String,
  api_version: Schema.String,
  /** By the relay's name; absent while no coordinator knows the agent's node. */
  latency: Schema.optional(Schema.Record({ key: Schema.String, value: Latency })),
  apps: Schema.Array(AppView),
  connection_timeout_seconds: Schema.Number,
  troubleshooting_url: Schema.String,
  subsystems: Schema.Array(AgentSubsystem),
  health: AgentHealth,
  display_apps: Schema.Array(DisplayApp),
  log_sources: Schema.Array(AgentLogSource),
  scripts: Schema.Array(ScriptView),
  startup_script_behavior: StartupScriptBehavior
})
export interface AgentView extends Schema.Schema.Type<typeof AgentView> {}

export const ResourceView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp.Timestamp,
  job_id: Uuid,
  workspace_transition: BuildTransition,
  type: Schema.String,
  name: Schema.String,
  hide: Schema.Boolean,
  icon: Schema.String,
  agents: Schema.Array(AgentView),
  metadata: Schema.Array(ResourceMetadata),
  daily_cost: Schema.Number
})
export interface ResourceView extends Schema.Schema.Type<typeof ResourceView> {}

/** The key with the value, unless that is empty. TypeScript widens a computed key, hence the assertion. */
const present = <const K extends string, A>(key: K, value: A | null): { readonly [_ in K]?: A } =>
  value === null || value === "" ? {} : ({ [key]: value } as { readonly [_ in K]: A })

export const appStatusView = (status: AppStatus): AppStatusView => ({ ...status, icon: "", needs_user_attention: false })

/** A slug that reads as a port: the name of its host says which agent is meant. */
const portSlug = /^\d{4,5}s?$/

/** The first label of the app's host; empty for an app that has none. agents-and-apps.md §6. */
export const subdomainName = (
  app: { readonly slug: string; readonly subdomain: boolean },
  agentName: string,
  names: WorkspaceNames | null
): string => {
  if (!app.subdomain || names === null) return ""
  const target = portSlug.test(app.slug) ? `${app.slug}--${agentName}` : app.slug
  return `${target}--${names.workspace_name}--${names.owner_name}`
}

export const appView = (app: BuildApp, agentName: string, names: WorkspaceNames | null): AppView => ({
  id: app.id,
  ...present("url", app.url),
  external: app.external,
  slug: app.slug,
  ...present("display_name", app.display_name),
  ...present("command", app.command),
  ...present("icon", app.icon),
  subdomain: app.subdomain,
  ...present("subdomain_name", subdomainName(app, agentName, names)),
  sharing_level: app.sharing_level,
  healthcheck: { url: app.healthcheck_url, interval: app.healthcheck_interval, threshold: app.healthcheck_threshold },
  health: app.health,
  ...present("group", app.display_group),
  hidden: app.hidden,
  open_in: app.open_in,
  ...present("tooltip", app.tooltip),
  statuses: app.statuses.map(appStatusView)
})

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

/** Log-ins wait for an agent's start scripts when at least one of them says so. */
export const startupScriptBehavior = (
  scripts: ReadonlyArray<Pick<AgentScript, "run_on_start" | "start_blocks_login">>
): StartupScriptBehavior => (scripts.some((script) => script.run_on_start && script.start_blocks_login) ? "blocking" : "non-blocking")

export const agentView = (agent: BuildAgent, context: ViewContext): AgentView => {
  const { disconnected_at, status } = statusAt(agent, context.now, context.inactive)
  return {
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
    display_apps: agent.display_apps,
    log_sources: agent.log_sources,
    scripts: agent.scripts.map(scriptView),
    startup_script_behavior: startupScriptBehavior(agent.scripts)
  }
}

export const resourceView = (resource: BuildResource, context: ViewContext): ResourceView => ({
  id: resource.id,
  created_at: resource.created_at,
  job_id: resource.job_id,
  workspace_transition: resource.transition,
  type: resource.type,
  name: resource.name,
  hide: resource.hide,
  icon: resource.icon,
  agents: resource.agents.map((agent) => agentView(agent, context)),
  metadata: resource.metadata,
  daily_cost: resource.daily_cost
})

/** A workspace's agents that are not well, sub agents left out. workspaces.md §2. */
export const failingAgents = (resources: ReadonlyArray<ResourceView>): ReadonlyArray<Uuid> =>
  resources.flatMap(({ agents }) => agents.filter(({ health, parent_id }) => !health.healthy && parent_id === null).map(({ id }) => id))
