/** What views of workspaces are made of, as texts to be compared: to read the records and make the views takes several times as long. */
import type { WorkspaceRepository } from "@atelier/core/workspaces"
import { agent, app, lastRun, logSource, resource, script } from "../agents/columns.js"
import { shownStatuses } from "../agents/resources/ResourceReading.js"
import { among } from "../platform/Among.js"
import { limited } from "../platform/Limit.js"
import { passingRows } from "../platform/NestedRows.js"
import { nullable, row, text, uuid } from "../platform/Row.js"
import { all } from "../platform/Statement.js"
import type { Fragment, Statements } from "../platform/Statements.js"
import type { Selected } from "../platform/WideRows.js"

const { last_connected_at, ...agentState } = agent
const { connection_timeout_seconds, created_at, disconnected_at, first_connected_at } = agent
const connections = { connection_timeout_seconds, created_at, disconnected_at, first_connected_at, last_connected_at }

/** `columns` are those of `WorkspaceDetails`, from workspaces `w` and what is `joined`. */
export const workspaceStates = (
  sql: Statements,
  columns: ReadonlyArray<Selected>,
  joined: Fragment
): Pick<WorkspaceRepository["Type"], "statesOf"> => {
  const expressions = columns.map(({ expression }) => expression).join(", ")
  const details = sql.dialect({
    sqlite: () => sql.literal(`json_array(${expressions})`),
    postgres: () => sql.literal(`CAST(ROW(${expressions}) AS text)`)
  })
  // SQLite does not know that few agents are found, and might begin with the other table
  const then = sql.dialect({ sqlite: () => sql`CROSS JOIN`, postgres: () => sql`JOIN` })
  const ofBuild = sql`FROM workspace_resources r`
  const agents = sql`${ofBuild} ${then} workspace_agents a ON a.resource_id = r.id AND NOT a.deleted`
  const within = sql`WHERE r.job_id = b.job_id`
  const parts = [
    passingRows(sql, resource, () => "r").select(sql`${ofBuild} ${within}`),
    passingRows(sql, agentState, () => "a").select(sql`${agents} ${within}`),
    passingRows(sql, app, () => "p").select(sql`${agents} ${then} workspace_apps p ON p.agent_id = a.id ${within}`),
    // What was reported once does not change
    passingRows(sql, { id: uuid }, () => "s").select(
      sql`${agents} ${then} workspace_apps p ON p.agent_id = a.id
        ${then} workspace_app_statuses s ON s.id IN (SELECT n.id FROM workspace_app_statuses n WHERE n.app_id = p.id
          ORDER BY n.created_at DESC, n.id DESC ${limited(sql, { limit: shownStatuses })}) ${within}`
    ),
    passingRows(sql, { ...script, ...lastRun }, (column) => (column in lastRun ? "t" : "s")).select(
      sql`${agents} ${then} workspace_agent_scripts s ON s.workspace_agent_id = a.id
        LEFT JOIN workspace_agent_script_timings t ON t.id =
          (SELECT n.id FROM workspace_agent_script_timings n WHERE n.script_id = s.id ORDER BY n.started_at DESC, n.id DESC LIMIT 1) ${within}`
    ),
    passingRows(sql, logSource, () => "s").select(
      sql`${agents} ${then} workspace_agent_log_sources s ON s.workspace_agent_id = a.id ${within}`
    )
  ]
  const whole = [details, ...parts].map((part) => sql`CAST(${part} AS text)`).reduce((left, right) => sql`${left} || ${right}`)
  const connected = passingRows(sql, connections, () => "a")
  const read = row({ id: uuid, state: nullable(text()), agents: connected })
  return {
    statesOf: (ids) =>
      all(
        read,
        sql`SELECT w.id, CASE WHEN j.started_at IS NULL AND j.completed_at IS NULL THEN NULL ELSE ${whole} END AS state,
            ${connected.select(sql`${agents} ${within}`)} AS agents
          FROM workspaces w ${joined} WHERE ${among(sql, sql`w.id`, ids)}`
      )
  }
}
