import type { BuildResourceRepository } from "@atelier/core/agents"
import { among } from "../../platform/Among.js"
import { limited } from "../../platform/Limit.js"
import { nestedRows } from "../../platform/NestedRows.js"
import { row } from "../../platform/Row.js"
import { one } from "../../platform/Statement.js"
import { agent, app, appStatus, lastRun, logSource, resource, script } from "../columns.js"
import type { Statements } from "../../platform/Statements.js"

/** Statuses of one app that are read, the newest; how many there are is up to the program that reports them. */
export const shownStatuses = 1000

/** Resources and agents with their parts, each in one statement. */
export const resourceReading = (sql: Statements): Pick<BuildResourceRepository["Type"], "ofJobs" | "ofAgent"> => {
  const resourceRows = nestedRows(sql, resource, () => "found_resources")
  const agentRows = nestedRows(sql, agent, () => "found_agents")
  const appRows = nestedRows(sql, app, () => "p")
  const statusRows = nestedRows(sql, appStatus, () => "s")
  const scriptRows = nestedRows(sql, { ...script, ...lastRun }, (column) => (column in lastRun ? "t" : "s"))
  const sourceRows = nestedRows(sql, logSource, () => "s")

  // SQLite does not know that few agents are found, and might begin with the other table
  const then = sql.dialect({ sqlite: () => sql`CROSS JOIN`, postgres: () => sql`JOIN` })

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

  return {
    ofJobs: (jobIds) =>
      one(
        (from) => ({ ...readResources(from), ...readAgents(from) }),
        sql`WITH found_resources AS MATERIALIZED (SELECT r.* FROM workspace_resources r WHERE ${among(sql, sql`r.job_id`, jobIds)}),
              found_agents AS MATERIALIZED (SELECT a.* FROM found_resources
                ${then} workspace_agents a ON a.resource_id = found_resources.id AND NOT a.deleted)
            SELECT ${resourceRows.select(sql`FROM found_resources`)} AS resources, ${agentParts}`
      ),
    ofAgent: (id) =>
      one(readAgents, sql`WITH found_agents AS MATERIALIZED (SELECT a.* FROM workspace_agents a WHERE a.id = ${id}) SELECT ${agentParts}`)
  }
}
