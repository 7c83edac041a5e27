import type { WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { as, items } from "../platform/Batch.js"
import { nullable, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

const doomed = row({ id: uuid, name: text(), owner_id: uuid, organization_id: uuid, template_id: uuid, deleting_at: nullable(timestamp) })
const owner = row({ owner_id: uuid })
const scheduled = row({ id: uuid, autostart_schedule: text() })

/** When workspaces start, were used, and are deleted. */
export const workspaceTimes = (
  sql: Statements
): Pick<WorkspaceRepository["Type"], "scheduledOf" | "doomedOf" | "ownersOf" | "setNextStarts" | "setNextStart" | "markUsed"> => ({
  scheduledOf: (templateId, after, limit) =>
    all(
      scheduled,
      sql`SELECT id, autostart_schedule FROM workspaces
            WHERE template_id = ${templateId} AND NOT deleted AND autostart_schedule <> '' AND dormant_at IS NULL
              ${after === undefined ? sql`` : sql`AND id > ${after}`}
            ORDER BY id LIMIT ${limit}`
    ),
  doomedOf: (templateId, after, limit) =>
    all(
      doomed,
      sql`SELECT id, name, owner_id, organization_id, template_id, deleting_at FROM workspaces
            WHERE template_id = ${templateId} AND NOT deleted AND dormant_at IS NOT NULL AND deleting_at IS NOT NULL
              ${after === undefined ? sql`` : sql`AND id > ${after}`}
            ORDER BY id LIMIT ${limit}`
    ),
  ownersOf: (templateId) =>
    Effect.map(all(owner, sql`SELECT DISTINCT owner_id FROM workspaces WHERE template_id = ${templateId} AND NOT deleted`), (rows) =>
      rows.map(({ owner_id }) => owner_id)
    ),
  setNextStarts: (changes) =>
    run(
      sql`UPDATE workspaces SET next_start_at = ${as(sql, "timestamp", sql`value ->> 'next_start_at'`)}
            FROM ${items(sql, changes)} WHERE id = ${as(sql, "uuid", sql`value ->> 'id'`)}`
    ),
  setNextStart: (id, next) => run(sql`UPDATE workspaces SET next_start_at = ${next} WHERE id = ${id}`),
  markUsed: (ids, at) =>
    ids.length === 0
      ? Effect.void
      : run(sql`UPDATE workspaces SET last_used_at = ${at} WHERE id IN ${sql.in(ids)} AND last_used_at < ${at}`)
})
