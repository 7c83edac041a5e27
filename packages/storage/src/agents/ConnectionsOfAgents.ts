/** Statements about the connections of agents. */
import type { AgentRepository } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { as, items } from "../platform/Batch.js"
import { boolean, row, uuid } from "../platform/Row.js"
import { all, applied, first, run } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

const isLatest = row({ is_latest: boolean })
const latest = row({ id: uuid })

/** A connection's end that is later than a sign of life by more than this was noted before the clock was set back. An end may overtake the last sign by less. */
const overtaken = "1 minute"
const isFirst = row({ is_first: boolean })

export const connectionsOfAgents = (
  sql: Statements
): Pick<AgentRepository["Type"], "connect" | "disconnect" | "isLatest" | "latestAmong" | "touch"> => ({
  isLatest: (id) =>
    Effect.map(
      first(
        isLatest,
        sql`SELECT w.latest_build_id = b.id AS is_latest FROM workspace_agents a
          JOIN workspace_resources r ON r.id = a.resource_id
          JOIN workspace_builds b ON b.job_id = r.job_id
          JOIN workspaces w ON w.id = b.workspace_id
          WHERE a.id = ${id} AND NOT a.deleted AND NOT w.deleted`
      ),
      Option.exists(({ is_latest }) => is_latest)
    ),
  connect: (id, connectionId, at) =>
    Effect.map(
      first(
        isFirst,
        sql`UPDATE workspace_agents SET first_connected_at = coalesce(first_connected_at, ${at}), last_connected_at = ${at},
            connection_id = ${connectionId}, disconnected_at = CASE WHEN disconnected_at < ${at} THEN disconnected_at END
          WHERE id = ${id} RETURNING first_connected_at = ${as(sql, "timestamp", sql`${at}`)} AS is_first`
      ),
      Option.exists(({ is_first }) => is_first)
    ),
  latestAmong: (ids) =>
    Effect.map(
      all(
        latest,
        sql`SELECT a.id FROM ${items(
          sql,
          ids.map((id) => [id])
        )}
          JOIN workspace_agents a ON a.id = ${as(sql, "uuid", sql`item.value ->> 0`)}
          JOIN workspace_resources r ON r.id = a.resource_id
          JOIN workspace_builds b ON b.job_id = r.job_id
          JOIN workspaces w ON w.id = b.workspace_id
          WHERE w.latest_build_id = b.id AND NOT a.deleted AND NOT w.deleted`
      ),
      (rows) => new Set(rows.map(({ id }) => id))
    ),
  touch: (signs, at) =>
    run(
      sql`UPDATE workspace_agents SET last_connected_at = ${at},
          disconnected_at = CASE WHEN disconnected_at <= ${Timestamp.plus(at, overtaken)} THEN disconnected_at END
        FROM ${items(
          sql,
          // In one order, as a statement of another process may have the same agents
          signs.map(({ agentId, connectionId }) => [agentId, connectionId]).toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1))
        )}
        WHERE id = ${as(sql, "uuid", sql`item.value ->> 0`)} AND connection_id = ${as(sql, "uuid", sql`item.value ->> 1`)}`
    ),
  disconnect: (id, connectionId, at) =>
    applied(sql`UPDATE workspace_agents SET disconnected_at = ${at} WHERE id = ${id} AND connection_id = ${connectionId} RETURNING id`)
})
