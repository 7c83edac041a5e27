import { RetentionRepository } from "@atelier/core/retention"
import { Effect } from "effect"
import { touched } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const connections = ["connect", "disconnect", "open", "close"]

export const layer = service(
  RetentionRepository,
  Effect.map(Statements, (sql) => {
    return RetentionRepository.of({
      auditEntries: (before, limit) =>
        touched(sql`DELETE FROM audit_logs WHERE id IN (
          SELECT id FROM audit_logs WHERE time < ${before} AND NOT ${sql.in("action", connections)} ORDER BY time LIMIT ${limit}) RETURNING 1`),
      connectionAuditEntries: (before, limit) =>
        touched(sql`DELETE FROM audit_logs WHERE id IN (
          SELECT id FROM audit_logs WHERE ${sql.in("action", connections)} AND time < ${before} LIMIT ${limit}) RETURNING 1`),
      connectionEntries: (before, limit) =>
        touched(sql`DELETE FROM connection_logs WHERE id IN (
          SELECT id FROM connection_logs WHERE connect_time < ${before} ORDER BY connect_time LIMIT ${limit}) RETURNING 1`),
      // The agents with lines are few, whatever the number of agents: from one to the next in the index
      agentLogLines: (before, limit) =>
        touched(sql`WITH RECURSIVE with_lines (id) AS (
            SELECT (SELECT workspace_agent_id FROM workspace_agent_logs ORDER BY workspace_agent_id LIMIT 1)
            UNION ALL
            SELECT (SELECT l.workspace_agent_id FROM workspace_agent_logs l WHERE l.workspace_agent_id > w.id
              ORDER BY l.workspace_agent_id LIMIT 1)
            FROM with_lines w WHERE w.id IS NOT NULL
          )
          DELETE FROM workspace_agent_logs WHERE id IN (
            SELECT l.id FROM with_lines w
            JOIN workspace_agents a ON a.id = w.id
            JOIN workspace_resources r ON r.id = a.resource_id
            JOIN workspace_builds b ON b.job_id = r.job_id
            JOIN workspace_agent_logs l ON l.workspace_agent_id = a.id
            WHERE COALESCE(a.last_connected_at, a.created_at) < ${before}
              AND b.build_number < (SELECT max(n.build_number) FROM workspace_builds n WHERE n.workspace_id = b.workspace_id)
            LIMIT ${limit}
          ) RETURNING 1`),
      agentReports: (before, limit) =>
        touched(sql`DELETE FROM workspace_agent_stats WHERE id IN (
          SELECT id FROM workspace_agent_stats WHERE created_at < ${before} ORDER BY created_at LIMIT ${limit}) RETURNING 1`),
      // The rows of a day have no id of their own: they are named by their place
      spend: (before, limit) => {
        const old = sql`FROM ai_spend WHERE day < ${before.slice(0, 10)} ORDER BY day LIMIT ${limit}`
        return touched(
          sql`DELETE FROM ai_spend WHERE ${sql.dialect({
            postgres: () => sql`ctid = ANY (ARRAY (SELECT ctid ${old}))`,
            sqlite: () => sql`rowid IN (SELECT rowid ${old})`
          })} RETURNING 1`
        )
      }
    })
  })
)
