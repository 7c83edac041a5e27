import type { HandedOverAgent, NewAgent, WorkspaceResource } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import type { ProvisionedScript } from "@atelier/core/provisioning"
import type { Dialect } from "../../platform/Dialect.js"

const environmentOf = ({ environment_variables: variables }: HandedOverAgent["row"]) =>
  variables === null ? null : JSON.stringify(variables)

/** The rows of what a build has made, in the dialect whose booleans are given. */
export const resourceRows = (bool: Dialect["boolean"]) => {
  const ofScript = (script: ProvisionedScript) => ({
    display_name: script.display_name,
    log_path: script.log_path,
    script: script.script,
    cron: script.cron,
    start_blocks_login: bool(script.start_blocks_login),
    run_on_start: bool(script.run_on_start),
    run_on_stop: bool(script.run_on_stop),
    timeout_seconds: script.timeout_seconds
  })

  return {
    ofResource: (row: WorkspaceResource) => ({ ...row, hide: bool(row.hide), metadata: JSON.stringify(row.metadata) }),

    ofAgent: ({ hashed_token, row, sealed_token }: NewAgent) => ({
      ...row,
      environment_variables: environmentOf(row),
      subsystems: JSON.stringify(row.subsystems),
      display_apps: JSON.stringify(row.display_apps),
      logs_overflowed: bool(row.logs_overflowed),
      logs_count: 0,
      deleted: bool(false),
      connection_id: null,
      hashed_token,
      sealed_token_key_id: sealed_token?.key_id ?? "",
      sealed_token: sealed_token?.ciphertext ?? null
    }),

    /** What an agent gets that moves to a new resource. */
    ofMovedAgent: ({ hashed_token, row }: HandedOverAgent) => ({
      resource_id: row.resource_id,
      hashed_token,
      updated_at: row.updated_at,
      directory: row.directory,
      environment_variables: environmentOf(row),
      api_key_scope: row.api_key_scope,
      display_apps: JSON.stringify(row.display_apps),
      display_order: row.display_order,
      motd_file: row.motd_file,
      troubleshooting_url: row.troubleshooting_url,
      connection_timeout_seconds: row.connection_timeout_seconds
    }),

    ofScript,

    ofScripts: ({ row, scripts }: NewAgent, created_at: Timestamp.Timestamp) =>
      scripts.map(({ id, log_source_id, script }) => ({
        id,
        created_at,
        workspace_agent_id: row.id,
        log_source_id,
        ...ofScript(script)
      })),

    ofLogSources: ({ row, scripts }: NewAgent, created_at: Timestamp.Timestamp) =>
      scripts.map(({ log_source_id, script }) => ({
        workspace_agent_id: row.id,
        id: log_source_id,
        created_at,
        display_name: script.display_name,
        icon: script.icon
      })),

    ofMetadata: ({ metadata, row }: Pick<NewAgent, "metadata" | "row">) =>
      metadata.map((item) => ({
        workspace_agent_id: row.id,
        key: item.key,
        display_name: item.display_name,
        script: item.script,
        interval: item.interval,
        timeout: item.timeout,
        display_order: item.order,
        value: "",
        error: "",
        collected_at: Timestamp.never
      })),

    ofMonitors: ({ monitors, row }: NewAgent) =>
      monitors.map(({ enabled, path, threshold }) => ({
        workspace_agent_id: row.id,
        path,
        enabled: bool(enabled),
        threshold,
        state: "OK",
        debounced_until: Timestamp.never
      })),

    ofDevcontainers: ({ devcontainers, row }: NewAgent, created_at: Timestamp.Timestamp) =>
      devcontainers.map((container) => ({ ...container, workspace_agent_id: row.id, created_at })),

    ofApps: ({ apps }: Pick<NewAgent, "apps">) =>
      apps.map((app) => ({
        ...app,
        subdomain: bool(app.subdomain),
        external: bool(app.external),
        hidden: bool(app.hidden)
      }))
  }
}
