import { type AgentMessages } from "@atelier/agent-protocol"
import type { AgentManifest, AppHealth, ManifestApp, ManifestScript } from "@atelier/core/agents"
import type { RelayMaps } from "@atelier/core/network"
import { type Effect, Redacted } from "effect"
import { relayMapMessage } from "./relayMapMessage.js"
import { bytesOf, secondsAsNanos, secondsOf } from "./values.js"
import type { SharingLevel } from "@atelier/core/provisioning"

const sharingLevels = {
  owner: "OWNER",
  authenticated: "AUTHENTICATED",
  organization: "ORGANIZATION",
  public: "PUBLIC"
} as const satisfies Record<SharingLevel, AgentMessages.SharingLevel>

const healths = {
  disabled: "DISABLED",
  initializing: "INITIALIZING",
  healthy: "HEALTHY",
  unhealthy: "UNHEALTHY"
} as const satisfies Record<AppHealth, AgentMessages.AppHealth>

const appMessage = (app: ManifestApp) => ({
  id: bytesOf(app.id),
  url: app.url,
  external: app.external,
  slug: app.slug,
  display_name: app.display_name,
  command: app.command,
  icon: app.icon,
  subdomain: app.subdomain,
  sharing_level: sharingLevels[app.sharing_level],
  healthcheck: { url: app.healthcheck_url, interval: secondsOf(app.healthcheck_interval), threshold: app.healthcheck_threshold },
  health: healths[app.health],
  hidden: app.hidden
})

const scriptMessage = (script: ManifestScript) => ({
  id: bytesOf(script.id),
  log_source_id: bytesOf(script.log_source_id),
  log_path: script.log_path,
  script: script.script,
  cron: script.cron,
  run_on_start: script.run_on_start,
  run_on_stop: script.run_on_stop,
  start_blocks_login: script.start_blocks_login,
  timeout: secondsOf(script.timeout_seconds),
  display_name: script.display_name
})

/** A manifest as it is sent. Hosts of apps and ports are left empty: no wildcard host serves them yet. agents-and-apps.md §14. */
export const manifestMessage = (
  { agent, apps, devcontainers, git_auth_configs, metadata, scripts, secrets, workspace }: AgentManifest,
  { derp_force_websockets, derp_map, disable_direct_connections }: Effect.Effect.Success<RelayMaps["Type"]["connectionInfo"]>
): AgentMessages.ManifestInit => ({
  agent_id: bytesOf(agent.id),
  agent_name: agent.name,
  git_auth_configs,
  owner_username: workspace.owner_name,
  workspace_id: bytesOf(workspace.workspace_id),
  workspace_name: workspace.workspace_name,
  environment_variables: new Map(Object.entries(agent.environment_variables ?? {})),
  directory: agent.directory,
  motd_path: agent.motd_file,
  derp_map: relayMapMessage(derp_map),
  derp_force_websockets,
  disable_direct_connections,
  scripts: scripts.map(scriptMessage),
  apps: apps.map(appMessage),
  metadata: metadata.map((item) => ({
    key: item.key,
    display_name: item.display_name,
    script: item.script,
    interval: secondsAsNanos(item.interval),
    timeout: secondsAsNanos(item.timeout)
  })),
  devcontainers: devcontainers.map(({ id, subagent_id, ...container }) => ({
    ...container,
    id: bytesOf(id),
    ...(subagent_id === null ? {} : { subagent_id: bytesOf(subagent_id) })
  })),
  secrets: secrets.map(({ env_name, file_path, value }) => ({ env_name, file_path, value: Redacted.value(value) })),
  ...(agent.parent_id === null ? {} : { parent_id: bytesOf(agent.parent_id) })
})
