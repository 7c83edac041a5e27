import type { Fragment, Statements } from "../platform/Statements.js"

/**
 * How many members the group of an id has that are neither deleted nor the service's own: what triggers of memberships keep. Of Everyone,
 * which has the organization's id, how many the organization has.
 */
export const memberCount = (sql: Statements, id: Fragment): Fragment =>
  sql`(SELECT coalesce(sum(n.count), 0) FROM group_counts n WHERE n.group_id = ${id})`
