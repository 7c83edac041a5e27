/** Statements about the connections of agents. */
import type { AgentRepository, LastingSign, SignOfLife } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { as, items } from "../platform/Batch.js"
import { boolean, row, uuid } from "../platform/Row.js"
import { all, applied, first, run } from "../platform/Statement.js"
import type { Fragment, Statements } from "../platform/Statements.js"

const isLatest = row({ is_latest: boolean })
const latest = row({ id: uuid })
const connected = row({ id: uuid, is_first: boolean })

/** A connection's end that is later than a sign of life by more than this was noted before the clock was set back. An end may overtake the last sign by less. */
const overtaken = "1 minute"

/** The agents and their connections, in one order: a statement of another process may have the same agents. */
const signed = (sql: Statements, signs: ReadonlyArray<SignOfLife & Partial<LastingSign>>): Fragment =>
  items(
    sql,
    signs
      .map(({ agentId, connectionId, isHeard = false }) => [agentId, connectionId, isHeard ? "heard" : ""])
      .toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1))
  )

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
  connect: (connections, at) =>
    Effect.map(
      all(
        connected,
        sql`UPDATE workspace_agents SET first_connected_at = coalesce(first_connected_at, ${at}), last_connected_at = ${at},
            connection_id = ${as(sql, "uuid", sql`item.value ->> 1`)}, disconnected_at = CASE WHEN disconnected_at < ${at} THEN disconnected_at END
          FROM ${signed(sql, connections)}
          WHERE id = ${as(sql, "uuid", sql`item.value ->> 0`)}
          RETURNING id, first_connected_at = ${as(sql, "timestamp", sql`${at}`)} AS is_first`
      ),
      (rows) => new Set(rows.flatMap(({ id, is_first }) => (is_first ? [id] : [])))
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
      sql`UPDATE workspace_agents SET last_connected_at = ${at}, connection_id = ${as(sql, "uuid", sql`item.value ->> 1`)},
          disconnected_at = CASE WHEN disconnected_at <= ${Timestamp.plus(at, overtaken)} THEN disconnected_at END
        FROM ${signed(sql, signs)}
        WHERE id = ${as(sql, "uuid", sql`item.value ->> 0`)} AND (connection_id = ${as(sql, "uuid", sql`item.value ->> 1`)}
          OR (item.value ->> 2 = 'heard' AND disconnected_at >= last_connected_at))`
    ),
  disconnect: (id, connectionId, at) =>
    applied(sql`UPDATE workspace_agents SET disconnected_at = ${at} WHERE id = ${id} AND connection_id = ${connectionId} RETURNING id`)
})
