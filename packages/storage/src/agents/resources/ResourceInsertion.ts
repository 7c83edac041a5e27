import { type BuildResourceRepository, ForeignApp, type HandedOverAgent, type NewAgent, type WorkspaceResource } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import type { ProvisionedScript } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { dialectOf } from "../../platform/Dialect.js"
import { row, uuid } from "../../platform/Row.js"
import { run } from "../../platform/Statement.js"
import { orDefect } from "../../platform/Unavailability.js"
import { app } from "../columns.js"
import type { Statements } from "../../platform/Statements.js"

const written = row({ id: uuid })

/** The columns of an app that a later build replaces. */
const replaced = Object.keys(app)
  .filter((column) => column !== "id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")

/** Stores what a build has made. */
export const resourceInsertion = (sql: Statements): Pick<BuildResourceRepository["Type"], "handOver" | "insert"> => {
  const { boolean: bool } = dialectOf(sql)

  const agentValues = ({ hashed_token, row, sealed_token }: NewAgent) => ({
    ...row,
    environment_variables: row.environment_variables === null ? null : JSON.stringify(row.environment_variables),
    subsystems: JSON.stringify(row.subsystems),
    display_apps: JSON.stringify(row.display_apps),
    logs_overflowed: bool(row.logs_overflowed),
    logs_count: 0,
    deleted: bool(false),
    connection_id: null,
    hashed_token,
    sealed_token_key_id: sealed_token?.key_id ?? "",
    sealed_token: sealed_token?.ciphertext ?? null
  })

  /** Inserts apps, or replaces those that an earlier build of the same workspace made; an app of another one is left alone. */
  const upsertApps = (jobId: string, agents: ReadonlyArray<Pick<NewAgent, "apps">>) =>
    Effect.gen(function* () {
      const rows = agents.flatMap(({ apps }) =>
        apps.map((app) => ({
          ...app,
          subdomain: bool(app.subdomain),
          external: bool(app.external),
          hidden: bool(app.hidden)
        }))
      )
      const answers = yield* orDefect(
        insertAll(
          sql,
          "workspace_apps",
          rows,
          sql`ON CONFLICT (id) DO UPDATE SET ${sql.literal(replaced)}
              WHERE EXISTS (SELECT 1 FROM workspace_agents a
                JOIN workspace_resources r ON r.id = a.resource_id
                JOIN workspace_builds b ON b.job_id = r.job_id
                JOIN workspace_builds mine ON mine.workspace_id = b.workspace_id
                WHERE a.id = workspace_apps.agent_id AND mine.job_id = ${jobId})
              RETURNING id`
        )
      )
      const stored = new Set(answers.map((answer) => written(answer).id))
      const foreign = rows.find(({ id }) => !stored.has(id))
      if (foreign !== undefined) return yield* new ForeignApp({ id: foreign.id })
    })

  const insert = (table: string, rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => run(insertAll(sql, table, rows))

  const insertResources = (resources: ReadonlyArray<WorkspaceResource>) =>
    insert(
      "workspace_resources",
      resources.map((row) => ({ ...row, hide: bool(row.hide), metadata: JSON.stringify(row.metadata) }))
    )

  const insertMetadata = (agents: ReadonlyArray<Pick<NewAgent, "metadata" | "row">>) =>
    insert(
      "workspace_agent_metadata",
      agents.flatMap(({ metadata, row }) =>
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
        }))
      )
    )

  const scriptColumns = (script: ProvisionedScript) => ({
    display_name: script.display_name,
    log_path: script.log_path,
    script: script.script,
    cron: script.cron,
    start_blocks_login: bool(script.start_blocks_login),
    run_on_start: bool(script.run_on_start),
    run_on_stop: bool(script.run_on_stop),
    timeout_seconds: script.timeout_seconds
  })

  /** Moves an agent to a new resource, with what its new owner's build gives it. */
  const moveAgent = ({ hashed_token, metadata, row, scripts }: HandedOverAgent) =>
    Effect.gen(function* () {
      yield* run(
        sql`UPDATE workspace_agents SET ${sql.update({
          resource_id: row.resource_id,
          hashed_token,
          updated_at: row.updated_at,
          directory: row.directory,
          environment_variables: row.environment_variables === null ? null : JSON.stringify(row.environment_variables),
          api_key_scope: row.api_key_scope,
          display_apps: JSON.stringify(row.display_apps),
          display_order: row.display_order,
          motd_file: row.motd_file,
          troubleshooting_url: row.troubleshooting_url,
          connection_timeout_seconds: row.connection_timeout_seconds
        })} WHERE id = ${row.id} AND NOT deleted`
      )
      const change = ({ id, script }: HandedOverAgent["scripts"][number]) =>
        run(
          sql`UPDATE workspace_agent_scripts SET ${sql.update(scriptColumns(script))} WHERE id = ${id} AND workspace_agent_id = ${row.id}`
        )
      yield* Effect.forEach(scripts, change, { discard: true })
      if (metadata.length > 0) yield* run(sql`DELETE FROM workspace_agent_metadata WHERE workspace_agent_id = ${row.id}`)
    })

  return {
    handOver: ({ agents, job_id, resources }) =>
      Effect.gen(function* () {
        yield* insertResources(resources)
        yield* Effect.forEach(agents, moveAgent, { discard: true })
        yield* insertMetadata(agents)
        yield* upsertApps(job_id, agents)
      }),
    insert: ({ agents, created_at, job_id, resources }) =>
      Effect.gen(function* () {
        yield* insertResources(resources)
        yield* insert("workspace_agents", agents.map(agentValues))
        const scripts = agents.flatMap((agent) => agent.scripts.map((script) => ({ ...script, agentId: agent.row.id })))
        yield* insert(
          "workspace_agent_log_sources",
          scripts.map(({ agentId, log_source_id, script }) => ({
            workspace_agent_id: agentId,
            id: log_source_id,
            created_at,
            display_name: script.display_name,
            icon: script.icon
          }))
        )
        yield* insert(
          "workspace_agent_scripts",
          scripts.map(({ agentId, id, log_source_id, script }) => ({
            id,
            created_at,
            workspace_agent_id: agentId,
            log_source_id,
            ...scriptColumns(script)
          }))
        )
        yield* insertMetadata(agents)
        yield* insert(
          "workspace_agent_monitors",
          agents.flatMap(({ monitors, row }) =>
            monitors.map(({ enabled, path, threshold }) => ({
              workspace_agent_id: row.id,
              path,
              enabled: bool(enabled),
              threshold,
              state: "OK",
              debounced_until: Timestamp.never
            }))
          )
        )
        yield* insert(
          "workspace_agent_devcontainers",
          agents.flatMap(({ devcontainers, row }) =>
            devcontainers.map((container) => ({ ...container, workspace_agent_id: row.id, created_at }))
          )
        )
        yield* upsertApps(job_id, agents)
      })
  }
}
