/** Which workspaces `w` have agents in a state. */
import type { AgentStatus } from "@atelier/core/agents"
import { Array, Duration } from "effect"
import type { Fragment, Statements } from "../platform/Statements.js"

/** Seconds in which the index of PostgreSQL does not tell signs of life apart: see the migration 0610. */
const period = 600

interface Instant {
  readonly now: string
  readonly inactive: Duration.Duration
}

/** Agents that an index finds. */
interface Part {
  /** A condition on agents `a`. */
  readonly isIn: Fragment
  /** The jobs of these agents. */
  readonly jobs: Fragment
}

/** Core's `statusAt` on columns of agents `a`. agents-and-apps.md §3. */
const statesAt = (sql: Statements, now: string, lastSign: string): Readonly<Record<AgentStatus, Fragment>> => {
  const isOverdue = sql.dialect({
    postgres: () => sql`(a.connection_timeout_seconds > 0 AND a.created_at + a.connection_timeout_seconds * INTERVAL '1 second' < ${now})`,
    sqlite: () =>
      sql`(a.connection_timeout_seconds > 0 AND unixepoch(${now}, 'subsec') - unixepoch(a.created_at, 'subsec') > a.connection_timeout_seconds)`
  })
  return {
    connected: sql`a.first_connected_at IS NOT NULL AND a.last_connected_at >= ${lastSign}
      AND (a.disconnected_at IS NULL OR a.disconnected_at < a.last_connected_at)`,
    // The first sign of life is the last one too, until the next
    connecting: sql`a.first_connected_at IS NULL AND NOT ${isOverdue}`,
    timeout: sql`a.first_connected_at IS NULL AND ${isOverdue}`,
    disconnected: sql`a.first_connected_at IS NOT NULL AND (a.last_connected_at < ${lastSign} OR a.disconnected_at >= a.last_connected_at)`
  }
}

/**
 * The agents in each state. Each part has conditions of its own, by which the databases know how many agents it has. On PostgreSQL, an index alone tells the jobs
 * of the agents whose last sign was before the period of the last that counts.
 */
const partsOf = (sql: Statements, { inactive, now }: Instant) => {
  const lastSign = new Date(Date.parse(now) - Duration.toMillis(inactive)).toISOString()
  const lastPeriod = Math.floor(Date.parse(lastSign) / 1000 / period)
  const states = statesAt(sql, now, lastSign)
  const joined = (isIn: Fragment): Part => ({
    isIn,
    jobs: sql`SELECT r.job_id FROM workspace_agents a JOIN workspace_resources r ON r.id = a.resource_id WHERE NOT a.deleted AND ${isIn}`
  })
  const seen = (isSeen: Fragment, isIn: Fragment): Part => ({
    isIn,
    jobs: sql`SELECT a.seen_job_id FROM workspace_agents a WHERE NOT a.deleted AND ${isSeen}`
  })
  const seenLately = (isIn: Fragment): Part => seen(sql`a.seen_in >= ${lastPeriod} AND ${isIn}`, isIn)
  const isLost = sql`a.seen_in < ${lastPeriod}`
  return {
    states,
    parts: (status: AgentStatus): ReadonlyArray<Part> =>
      sql.dialect({
        postgres: () =>
          status === "connected"
            ? [seenLately(states.connected)]
            : status === "disconnected"
              ? [seen(isLost, isLost), seenLately(states.disconnected)]
              : [joined(states[status])],
        sqlite: () => [joined(states[status])]
      })
  }
}

/** The agents of the latest build of `w` for which one of the conditions holds. */
const itsAgents = (sql: Statements, conditions: ReadonlyArray<Fragment>): Fragment =>
  sql`SELECT 1 FROM workspace_resources r CROSS JOIN workspace_agents a
    WHERE r.job_id = w.latest_job_id AND a.resource_id = r.id AND NOT a.deleted AND ${sql.or(conditions)}`

const isStarted = (sql: Statements) => sql`w.latest_transition = 'start'`

/**
 * The latest build is a start and has an agent in one of the states. `isEach` tells that a few workspaces are looked at, or some in their order: the databases would
 * read all agents before the first of them. SQLite never reads all disconnected agents, because nearly all agents of former builds are.
 */
export const hasAgent = (
  sql: Statements,
  statuses: ReadonlyArray<AgentStatus>,
  { isEach, ...instant }: Instant & { readonly isEach: boolean }
): Fragment => {
  const asked = Array.dedupe(statuses)
  if (asked.length === 0) return sql`1 = 0`
  const { parts, states } = partsOf(sql, instant)
  const bySome = () => sql`w.latest_job_id IN (${sql.join(" UNION ALL ", false)(asked.flatMap(parts).map(({ jobs }) => jobs))})`
  const its = itsAgents(
    sql,
    asked.map((status) => states[status])
  )
  const has = sql.dialect({
    // The offset keeps PostgreSQL from a join with all agents
    postgres: () => (isEach ? sql`EXISTS (${its} OFFSET 0)` : bySome()),
    sqlite: () => (isEach || asked.includes("disconnected") ? sql`EXISTS (${its})` : bySome())
  })
  return sql`${isStarted(sql)} AND ${has}`
}

/**
 * Disjoint conditions that together find what `hasAgent` finds, to count it. PostgreSQL does not estimate the rows of a union: it plans each
 * part by itself, and reads the largest one in indexes alone.
 */
export const eitherAgent = (sql: Statements, statuses: ReadonlyArray<AgentStatus>, instant: Instant): ReadonlyArray<Fragment> =>
  sql.dialect({
    postgres: () => {
      const parts = Array.dedupe(statuses).flatMap(partsOf(sql, instant).parts)
      if (parts.length === 0) return [sql`1 = 0`]
      return parts.map(({ jobs }, index) => {
        const former = parts.slice(0, index).map(({ isIn }) => isIn)
        return sql.and([
          isStarted(sql),
          sql`w.latest_job_id IN (${jobs})`,
          ...(former.length === 0 ? [] : [sql`NOT EXISTS (${itsAgents(sql, former)})`])
        ])
      })
    },
    sqlite: () => [hasAgent(sql, statuses, { ...instant, isEach: false })]
  })
