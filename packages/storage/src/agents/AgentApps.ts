import type { AgentRepository, AppHealth, AppState } from "@atelier/core/agents"
import { Effect, Option } from "effect"
import { as } from "../platform/Batch.js"
import { row, text, uuid } from "../platform/Row.js"
import { all, applied, first, run } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"
const appHealth = row({ id: uuid, slug: text(), healthcheck_url: text(), health: text<AppHealth>() })
const appState = row({ state: text<AppState>() })

/** The apps and scripts of agents, as they report them. */
export const agentApps = (
  sql: Statements
): Pick<AgentRepository["Type"], "appsOf" | "updateAppHealth" | "latestAppState" | "insertAppStatus" | "insertScriptTiming"> => ({
  appsOf: (id) => all(appHealth, sql`SELECT id, slug, healthcheck_url, health FROM workspace_apps WHERE agent_id = ${id}`),
  updateAppHealth: (appIds, health) => run(sql`UPDATE workspace_apps SET health = ${health} WHERE id IN ${sql.in(appIds)}`),
  latestAppState: (appId) =>
    Effect.map(
      first(appState, sql`SELECT state FROM workspace_app_statuses WHERE app_id = ${appId} ORDER BY created_at DESC, id DESC LIMIT 1`),
      Option.map(({ state }) => state)
    ),
  insertAppStatus: (status) => run(sql`INSERT INTO workspace_app_statuses ${sql.insert(status)}`),
  insertScriptTiming: (agentId, timing) =>
    applied(
      sql`INSERT INTO workspace_agent_script_timings (script_id, started_at, ended_at, exit_code, stage, status)
            SELECT s.id, ${as(sql, "timestamp", sql`${timing.started_at}`)}, ${as(sql, "timestamp", sql`${timing.ended_at}`)},
              ${as(sql, "bigint", sql`${timing.exit_code}`)}, ${timing.stage}, ${timing.status}
            FROM workspace_agent_scripts s WHERE s.id = ${timing.script_id} AND s.workspace_agent_id = ${agentId}
            RETURNING script_id`
    )
})
