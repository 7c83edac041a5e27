/** Which workspaces `w` have agents in a state. */
import type { AgentStatus } from "@atelier/core/agents"
import { Array, Duration } from "effect"
import type { Fragment, Statements } from "../platform/Statements.js"

/** Seconds in which the index of PostgreSQL does not tell signs of life apart: see the migration 0610. */
const period = 600

/**
 * Core's `statusAt` on columns: the latest build is a start and has an agent in one of the states. Each state has conditions of its own, by which the databases
 * know how many agents it has, and find the few that are connected, or never were, in an index. `isEach` tells that a few workspaces are looked at, or some in their
 * order: SQLite would read all agents before the first of them. agents-and-apps.md §3.
 */
export const hasAgent = (
  sql: Statements,
  statuses: ReadonlyArray<AgentStatus>,
  { inactive, isEach, now }: { readonly now: string; readonly inactive: Duration.Duration; readonly isEach: boolean }
): Fragment => {
  const lastSign = new Date(Date.parse(now) - Duration.toMillis(inactive)).toISOString()
  const isOverdue = sql.dialect({
    postgres: () => sql`(a.connection_timeout_seconds > 0 AND a.created_at + a.connection_timeout_seconds * INTERVAL '1 second' < ${now})`,
    sqlite: () =>
      sql`(a.connection_timeout_seconds > 0 AND unixepoch(${now}, 'subsec') - unixepoch(a.created_at, 'subsec') > a.connection_timeout_seconds)`
  })
  const isInState: Readonly<Record<AgentStatus, Fragment>> = {
    connected: sql`a.first_connected_at IS NOT NULL AND a.last_connected_at >= ${lastSign}
      AND (a.disconnected_at IS NULL OR a.disconnected_at < a.last_connected_at)`,
    // The first sign of life is the last one too, until the next
    connecting: sql`a.first_connected_at IS NULL AND NOT ${isOverdue}`,
    timeout: sql`a.first_connected_at IS NULL AND ${isOverdue}`,
    disconnected: sql`a.first_connected_at IS NOT NULL AND (a.last_connected_at < ${lastSign} OR a.disconnected_at >= a.last_connected_at)`
  }
  const jobs = (status: AgentStatus): Fragment =>
    sql`SELECT r.job_id FROM workspace_agents a JOIN workspace_resources r ON r.id = a.resource_id WHERE NOT a.deleted AND ${isInState[status]}`
  const indexedJobs = (status: AgentStatus): Fragment =>
    status === "connected"
      ? sql`SELECT a.seen_job_id FROM workspace_agents a
          WHERE NOT a.deleted AND a.seen_in >= ${Math.floor(Date.parse(lastSign) / 1000 / period)} AND ${isInState.connected}`
      : jobs(status)
  const asked = Array.dedupe(statuses)
  if (asked.length === 0) return sql`1 = 0`
  const jobsBy = (of: (status: AgentStatus) => Fragment): Fragment =>
    sql`w.latest_job_id IN (${sql.join(" UNION ALL ", false)(asked.map(of))})`
  const ofEach = (): Fragment =>
    sql`EXISTS (SELECT 1 FROM workspace_resources r CROSS JOIN workspace_agents a
      WHERE r.job_id = w.latest_job_id AND a.resource_id = r.id AND NOT a.deleted AND ${sql.or(asked.map((status) => isInState[status]))})`
  const hasOne = sql.dialect({ postgres: () => jobsBy(indexedJobs), sqlite: () => (isEach ? ofEach() : jobsBy(jobs)) })
  return sql`w.latest_transition = 'start' AND ${hasOne}`
}
