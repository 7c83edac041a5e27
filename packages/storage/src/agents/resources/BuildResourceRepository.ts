import { SqlClient } from "@effect/sql"
import {
  BuildResourceRepository,
  ForeignApp,
  type HandedOverAgent,
  type NewAgent,
  type ScriptStage,
  type ScriptStatus,
  type StoredExternalAgent,
  type WorkspaceResource
} from "@atelier/core/agents"
import { type SealedRow, Timestamp, service } from "@atelier/core/platform"
import type { ApiKeyScope, ProvisionedApp, ProvisionedScript } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { insertAll } from "../../platform/Batch.js"
import { dialectOf, inDialect, locking } from "../../platform/Dialect.js"
import { limited } from "../../platform/Limit.js"
import { nestedRows } from "../../platform/NestedRows.js"
import { boolean, bytes, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, one, run } from "../../platform/Statement.js"
import { orDefect } from "../../platform/Unavailability.js"
import { agent, app, appStatus, lastRun, logSource, resource, script } from "../columns.js"

const written = row({ id: uuid })
const tokenRow = row({ id: uuid, sealed_token_key_id: text(), sealed_token: bytes })
const platformRow = row({ operating_system: text(), architecture: text() })

/** Tokens belong to agents, not to users. */
const sealedToken = (from: object): SealedRow => {
  const { id, sealed_token: ciphertext, sealed_token_key_id: key_id } = tokenRow(from)
  return { id, user_id: id, value: { key_id, ciphertext } }
}

const childRow = row({ id: uuid, name: text() })

const parentRow = row({
  resource_id: uuid,
  connection_timeout_seconds: number,
  troubleshooting_url: text(),
  api_key_scope: text<ApiKeyScope>(),
  max_port_share_level: text<ProvisionedApp["sharing_level"]>(),
  is_taken: boolean,
  children: number,
  made: number
})

const devcontainer = row({ id: uuid, name: text(), workspace_folder: text(), config_path: text(), subagent_id: nullable(uuid) })

const instanceRow = row({ name: text(), is_latest: boolean })

const externalAgent = (from: object): StoredExternalAgent => ({ ...platformRow(from), token: sealedToken(from) })

const timingRow = row({
  started_at: timestamp,
  ended_at: timestamp,
  exit_code: number,
  stage: text<ScriptStage>(),
  status: text<ScriptStatus>(),
  display_name: text(),
  workspace_agent_id: uuid,
  workspace_agent_name: text()
})

/** Agents of one instance that are read. */
const maximumInstanceAgents = 100

/** Statuses of one app that are read, the newest; how many there are is up to the program that reports them. */
const shownStatuses = 1000

/** The columns of an app that a later build replaces. */
const replaced = Object.keys(app)
  .filter((column) => column !== "id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")

export const layer = service(
  BuildResourceRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)

    const resourceRows = nestedRows(sql, resource, () => "found_resources")
    const agentRows = nestedRows(sql, agent, () => "found_agents")
    const appRows = nestedRows(sql, app, () => "p")
    const statusRows = nestedRows(sql, appStatus, () => "s")
    const scriptRows = nestedRows(sql, { ...script, ...lastRun }, (column) => (column in lastRun ? "t" : "s"))
    const sourceRows = nestedRows(sql, logSource, () => "s")

    // SQLite does not know that few agents are found, and might begin with the other table
    const then = inDialect(sql, { sqlite: () => sql`CROSS JOIN`, postgres: () => sql`JOIN` })

    /** The rows of `found_agents` with their parts. */
    const agentParts = sql`
      ${agentRows.select(sql`FROM found_agents`)} AS agents,
      ${appRows.select(sql`FROM found_agents ${then} workspace_apps p ON p.agent_id = found_agents.id`)} AS apps,
      ${statusRows.select(sql`FROM found_agents ${then} workspace_apps p ON p.agent_id = found_agents.id
        ${then} workspace_app_statuses s ON s.id IN (SELECT n.id FROM workspace_app_statuses n WHERE n.app_id = p.id
          ORDER BY n.created_at DESC, n.id DESC ${limited(sql, { limit: shownStatuses })})`)} AS statuses,
      ${scriptRows.select(sql`FROM found_agents ${then} workspace_agent_scripts s ON s.workspace_agent_id = found_agents.id
        LEFT JOIN workspace_agent_script_timings t ON t.id =
          (SELECT n.id FROM workspace_agent_script_timings n WHERE n.script_id = s.id ORDER BY n.started_at DESC, n.id DESC LIMIT 1)`)} AS scripts,
      ${sourceRows.select(sql`FROM found_agents ${then} workspace_agent_log_sources s ON s.workspace_agent_id = found_agents.id`)} AS log_sources`

    const readAgents = row({
      agents: agentRows,
      apps: appRows,
      statuses: statusRows,
      scripts: scriptRows,
      log_sources: sourceRows
    })
    const readResources = row({ resources: resourceRows })

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
        yield* Effect.forEach(
          scripts,
          ({ id, script }) =>
            run(
              sql`UPDATE workspace_agent_scripts SET ${sql.update(scriptColumns(script))} WHERE id = ${id} AND workspace_agent_id = ${row.id}`
            ),
          { discard: true }
        )
        if (metadata.length > 0) yield* run(sql`DELETE FROM workspace_agent_metadata WHERE workspace_agent_id = ${row.id}`)
      })

    return BuildResourceRepository.of({
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
        }),
      ofJobs: (jobIds) =>
        one(
          (from) => ({ ...readResources(from), ...readAgents(from) }),
          sql`WITH found_resources AS MATERIALIZED (SELECT r.* FROM workspace_resources r WHERE ${among(sql, sql`r.job_id`, jobIds)}),
              found_agents AS MATERIALIZED (SELECT a.* FROM found_resources
                ${then} workspace_agents a ON a.resource_id = found_resources.id AND NOT a.deleted)
            SELECT ${resourceRows.select(sql`FROM found_resources`)} AS resources, ${agentParts}`
        ),
      scriptTimings: (jobId, limit) =>
        all(
          timingRow,
          sql`SELECT t.started_at, t.ended_at, t.exit_code, t.stage, t.status, s.display_name, a.id AS workspace_agent_id,
              a.name AS workspace_agent_name
            FROM workspace_resources r
            JOIN workspace_agents a ON a.resource_id = r.id AND NOT a.deleted
            JOIN workspace_agent_scripts s ON s.workspace_agent_id = a.id
            JOIN workspace_agent_script_timings t ON t.script_id = s.id
            WHERE r.job_id = ${jobId} ORDER BY t.started_at, t.id LIMIT ${limit}`
        ),
      ofAgent: (id) =>
        one(
          readAgents,
          sql`WITH found_agents AS MATERIALIZED (SELECT a.* FROM workspace_agents a WHERE a.id = ${id}) SELECT ${agentParts}`
        ),
      externalAgent: (jobId, name) =>
        first(
          externalAgent,
          sql`SELECT a.id, a.operating_system, a.architecture, a.sealed_token_key_id, a.sealed_token
            FROM workspace_resources r JOIN workspace_agents a ON a.resource_id = r.id
            WHERE r.job_id = ${jobId} AND a.name = ${name} AND a.auth_instance_id IS NULL AND a.parent_id IS NULL AND a.sealed_token_key_id <> ''
              AND NOT a.deleted`
        ),
      agentsOfInstance: (instanceId) =>
        all(
          (from) => ({ ...instanceRow(from), token: sealedToken(from) }),
          sql`SELECT a.id, a.name, a.sealed_token_key_id, a.sealed_token,
              (w.latest_build_id = b.id) AS is_latest
            FROM workspace_agents a
            JOIN workspace_resources r ON r.id = a.resource_id
            JOIN workspace_builds b ON b.job_id = r.job_id
            JOIN workspaces w ON w.id = b.workspace_id
            WHERE a.auth_instance_id = ${instanceId} AND a.parent_id IS NULL AND a.sealed_token_key_id <> '' AND NOT a.deleted AND NOT w.deleted
            ORDER BY a.created_at DESC, a.id DESC LIMIT ${maximumInstanceAgents}`
        ),
      lockParent: (id, name) =>
        Effect.zipRight(
          // The next statement sees rows that other transactions have stored by then
          run(sql`SELECT id FROM workspace_agents WHERE id = ${id} ${locking(sql, "FOR UPDATE")}`),
          one(
            parentRow,
            sql`SELECT a.resource_id, a.connection_timeout_seconds, a.troubleshooting_url, a.api_key_scope, t.max_port_share_level,
                EXISTS (SELECT 1 FROM workspace_resources s JOIN workspace_agents o ON o.resource_id = s.id
                  WHERE s.job_id = r.job_id AND NOT o.deleted AND lower(o.name) = lower(${name})) AS is_taken,
                (SELECT count(*) FROM workspace_agents c WHERE c.parent_id = a.id AND NOT c.deleted) AS children,
                (SELECT count(*) FROM workspace_agents c WHERE c.parent_id = a.id) AS made
              FROM workspace_agents a
              JOIN workspace_resources r ON r.id = a.resource_id
              JOIN workspace_builds b ON b.job_id = r.job_id
              JOIN workspaces w ON w.id = b.workspace_id
              JOIN templates t ON t.id = w.template_id
              WHERE a.id = ${id}`
          )
        ),
      subAgentsOf: (parentId) =>
        all(
          (from) => ({ ...childRow(from), token: sealedToken(from) }),
          sql`SELECT id, name, sealed_token_key_id, sealed_token FROM workspace_agents
            WHERE parent_id = ${parentId} AND NOT deleted ORDER BY created_at, id`
        ),
      adoptSubAgent: (id, { directory, display_apps }, at) =>
        run(
          sql`UPDATE workspace_agents SET display_apps = ${JSON.stringify(display_apps)}, updated_at = ${at}
              ${directory === "" ? sql.literal("") : sql`, directory = ${directory}`}
            WHERE id = ${id}`
        ),
      deleteSubAgent: (parentId, id) =>
        applied(
          sql`UPDATE workspace_agents SET deleted = ${bool(true)}, sealed_token_key_id = '', sealed_token = NULL
            WHERE id = ${id} AND parent_id = ${parentId} AND NOT deleted RETURNING id`
        ),
      tokensSealedOtherwise: (keyId, after, limit) =>
        all(
          (from) => sealedToken(from),
          sql`SELECT id, sealed_token_key_id, sealed_token FROM workspace_agents
            WHERE sealed_token_key_id <> '' AND sealed_token_key_id <> ${keyId} AND id > ${after} ORDER BY id LIMIT ${limit}`
        ),
      resealToken: (id, from, to) =>
        applied(
          sql`UPDATE workspace_agents SET sealed_token_key_id = ${to.key_id}, sealed_token = ${to.ciphertext}
            WHERE id = ${id} AND sealed_token_key_id = ${from.key_id} AND sealed_token = ${from.ciphertext} RETURNING id`
        ),
      devcontainersOf: (agentId) =>
        all(
          devcontainer,
          sql`SELECT id, name, workspace_folder, config_path, subagent_id FROM workspace_agent_devcontainers
            WHERE workspace_agent_id = ${agentId} ORDER BY id`
        ),
      deleteAgents: (workspaceId, exceptJobId) =>
        run(
          sql`UPDATE workspace_agents SET deleted = ${bool(true)}, sealed_token_key_id = '', sealed_token = NULL WHERE NOT deleted AND resource_id IN
            (SELECT r.id FROM workspace_builds b JOIN workspace_resources r ON r.job_id = b.job_id
              WHERE b.workspace_id = ${workspaceId} AND ${exceptJobId === null ? sql`1 = 1` : sql`b.job_id <> ${exceptJobId}`})`
        )
    })
  })
)
