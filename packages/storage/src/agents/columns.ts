/** How the rows of this area are read. */
import {
  type AgentLifecycle,
  AgentSubsystem,
  type AppHealth,
  type AppState,
  EnvironmentVariables,
  type ScriptStatus
} from "@atelier/core/agents"
import type { LogLevel } from "@atelier/core/platform"
import { Schema } from "effect"
import { boolean, json, nullable, number, text, timestamp, uuid } from "../platform/Row.js"
import {
  type ApiKeyScope,
  type AppOpenIn,
  type BuildTransition,
  DisplayApp,
  ResourceMetadata,
  type SharingLevel
} from "@atelier/core/provisioning"

export const resource = {
  id: uuid,
  created_at: timestamp,
  job_id: uuid,
  transition: text<BuildTransition>(),
  type: text(),
  name: text(),
  hide: boolean,
  icon: text(),
  instance_type: text(),
  daily_cost: number,
  module_path: text(),
  metadata: json(Schema.Array(ResourceMetadata))
}

const environment = json(EnvironmentVariables)

export const agent = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  resource_id: uuid,
  parent_id: nullable(uuid),
  name: text(),
  architecture: text(),
  operating_system: text(),
  directory: text(),
  expanded_directory: text(),
  environment_variables: nullable(environment),
  auth_instance_id: nullable(text()),
  api_key_scope: text<ApiKeyScope>(),
  version: text(),
  api_version: text(),
  subsystems: json(Schema.Array(AgentSubsystem)),
  display_apps: json(Schema.Array(DisplayApp)),
  display_order: number,
  motd_file: text(),
  troubleshooting_url: text(),
  connection_timeout_seconds: number,
  first_connected_at: nullable(timestamp),
  last_connected_at: nullable(timestamp),
  disconnected_at: nullable(timestamp),
  lifecycle_state: text<AgentLifecycle>(),
  started_at: nullable(timestamp),
  ready_at: nullable(timestamp),
  logs_length: number,
  logs_overflowed: boolean
}

export const app = {
  id: uuid,
  created_at: timestamp,
  agent_id: uuid,
  slug: text(),
  display_name: text(),
  icon: text(),
  command: text(),
  url: text(),
  healthcheck_url: text(),
  healthcheck_interval: number,
  healthcheck_threshold: number,
  health: text<AppHealth>(),
  subdomain: boolean,
  sharing_level: text<SharingLevel>(),
  external: boolean,
  display_order: number,
  display_group: text(),
  hidden: boolean,
  open_in: text<AppOpenIn>(),
  tooltip: text()
}

export const appStatus = {
  id: uuid,
  created_at: timestamp,
  workspace_id: uuid,
  agent_id: uuid,
  app_id: uuid,
  state: text<AppState>(),
  message: text(),
  uri: text()
}

/** Without its last run. */
export const script = {
  id: uuid,
  created_at: timestamp,
  workspace_agent_id: uuid,
  log_source_id: uuid,
  display_name: text(),
  log_path: text(),
  script: text(),
  cron: text(),
  start_blocks_login: boolean,
  run_on_start: boolean,
  run_on_stop: boolean,
  timeout_seconds: number
}

export const lastRun = { exit_code: nullable(number), status: nullable(text<ScriptStatus>()) }

export const devcontainer = { id: uuid, name: text(), workspace_folder: text(), config_path: text(), subagent_id: nullable(uuid) }

export const logSource = { workspace_agent_id: uuid, id: uuid, created_at: timestamp, display_name: text(), icon: text() }

export const log = { id: number, created_at: timestamp, output: text(), level: text<LogLevel>(), source_id: uuid }

export const metadata = {
  workspace_agent_id: uuid,
  key: text(),
  display_name: text(),
  script: text(),
  interval: number,
  timeout: number,
  display_order: number,
  value: text(),
  error: text(),
  collected_at: timestamp
}
