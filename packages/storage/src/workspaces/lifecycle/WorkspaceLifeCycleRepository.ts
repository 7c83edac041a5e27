import { prebuildsUserId } from "@atelier/core/access"
import { noDay, otherDays, service } from "@atelier/core/platform"
import { type DueTimes, WorkspaceLifeCycleRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { as, items } from "../../platform/Batch.js"
import { number, row, timestamp, uuid } from "../../platform/Row.js"
import { all, applied } from "../../platform/Statement.js"
import { type Fragment, Statements } from "../../platform/Statements.js"

const limit = row({ id: uuid, failure_ttl_ms: number, time_til_dormant_ms: number })
const lead = row({ id: uuid, time_til_autostop_notify_ms: number })
const stop = row({ id: uuid, build_id: uuid, deadline: timestamp })
const identified = row({ id: uuid })

export const layer = service(
  WorkspaceLifeCycleRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const templateId = as(sql, "uuid", sql`value ->> 'template_id'`)
    const before = as(sql, "timestamp", sql`value ->> 'before'`)
    // SQLite joins in the written order where it says so, and has no statistics to find that order by itself
    const then = sql.dialect({ postgres: () => sql`JOIN`, sqlite: () => sql`CROSS JOIN` })
    /** Workspaces of each template before that template's instant. PostgreSQL reads all workspaces for a join with values that it cannot foresee. */
    const ofEach = (times: DueTimes["failed_before"], condition: (before: Fragment) => Fragment) =>
      sql.dialect({
        postgres: () =>
          sql`SELECT w.id FROM ${items(sql, times)}
            CROSS JOIN LATERAL (SELECT w.id FROM workspaces w WHERE w.template_id = ${templateId} AND ${condition(before)} OFFSET 0) w`,
        sqlite: () =>
          sql`SELECT w.id FROM ${items(sql, times)} CROSS JOIN workspaces w ON w.template_id = ${templateId} AND ${condition(before)}`
      })
    const isScheduled = sql`w.autostart_schedule IS NOT NULL AND w.latest_transition = 'stop' AND w.dormant_at IS NULL AND NOT w.deleted
      AND w.latest_status <> 'failed'`
    const mayStart = (policies: boolean) =>
      sql`${then} users u ON u.id = w.owner_id AND u.status = 'active'
        ${then} templates t ON t.id = w.template_id
          ${policies ? sql`AND t.allow_user_autostart AND t.autostart_block_days_of_week < ${otherDays(noDay)}` : sql``}`

    return WorkspaceLifeCycleRepository.of({
      limits: all(
        limit,
        sql`SELECT id, failure_ttl_ms, time_til_dormant_ms FROM templates WHERE failure_ttl_ms > 0 OR time_til_dormant_ms > 0`
      ),
      reminderLeads: all(
        lead,
        sql`SELECT id, time_til_autostop_notify_ms FROM templates WHERE time_til_autostop_notify_ms > 0 AND NOT deleted`
      ),
      approachingStops: (leads, { limit, now, used_after }) => {
        const until = as(sql, "timestamp", sql`value ->> 'until'`)
        const [first, ...others] = leads.map((each) => each.until)
        if (first === undefined) return Effect.succeed([])
        const last = others.reduce((latest, each) => (each > latest ? each : latest), first)
        return all(
          stop,
          sql`SELECT w.id, b.id AS build_id, b.deadline FROM workspace_builds b
            ${then} workspaces w ON w.id = b.workspace_id AND NOT w.deleted AND w.dormant_at IS NULL AND w.latest_transition = 'start'
            ${then} templates t ON t.id = w.template_id
            ${then} ${items(sql, leads)} ON ${templateId} = t.id
            WHERE b.deadline > ${now} AND b.deadline <= ${last} AND b.transition = 'start' AND NOT b.superseded
              AND b.deadline <= ${until}
              AND (b.notified_deadline IS NULL OR b.notified_deadline <> b.deadline)
              AND NOT (w.last_used_at >= ${used_after} AND t.activity_bump_ms > 0 AND (b.max_deadline IS NULL OR b.max_deadline > ${until}))
            ORDER BY b.deadline, w.id LIMIT ${limit}`
        )
      },
      markReminded: (id, deadline) =>
        applied(
          sql`UPDATE workspace_builds SET notified_deadline = deadline
            WHERE id = ${id} AND deadline = ${deadline} AND (notified_deadline IS NULL OR notified_deadline <> deadline) RETURNING id`
        ),
      expired: (now, { after, limit }) =>
        Effect.map(
          all(
            identified,
            sql`WITH due AS MATERIALIZED (SELECT id FROM workspaces WHERE expires_at IS NOT NULL AND expires_at <= ${now} AND NOT deleted)
              SELECT id FROM due ${after === undefined ? sql`` : sql`WHERE id > ${after}`} ORDER BY id LIMIT ${limit}`
          ),
          (rows) => rows.map(({ id }) => id)
        ),
      due: ({ failed_before, policies, tick, unused_before }, { after, limit }) => {
        const rules: ReadonlyArray<Fragment> = [
          sql`SELECT w.id FROM workspace_builds b ${then} workspaces w ON w.id = b.workspace_id
            WHERE b.deadline IS NOT NULL AND b.deadline < ${tick} AND b.transition = 'start' AND NOT b.superseded
              AND w.dormant_at IS NULL AND NOT w.deleted AND w.latest_status IN ('running', 'canceled')`,
          sql`SELECT w.id FROM users u ${then} workspaces w ON w.owner_id = u.id
            WHERE u.status = 'suspended' AND NOT u.deleted AND NOT u.is_system
              AND w.latest_transition = 'start' AND w.dormant_at IS NULL AND NOT w.deleted AND w.latest_status IN ('running', 'canceled')`,
          sql`SELECT w.id FROM workspaces w ${mayStart(policies)}
            WHERE w.next_start_at IS NOT NULL AND w.next_start_at <= ${tick} AND ${isScheduled}`,
          sql`SELECT w.id FROM workspaces w ${mayStart(policies)} WHERE w.next_start_at IS NULL AND ${isScheduled}`,
          ofEach(
            failed_before,
            (before) =>
              sql`w.latest_ended_at < ${before} AND w.latest_status = 'failed' AND w.latest_transition <> 'delete' AND NOT w.deleted`
          ),
          ofEach(
            unused_before,
            (before) => sql`w.last_used_at < ${before} AND w.dormant_at IS NULL AND NOT w.deleted AND w.owner_id <> ${prebuildsUserId}`
          ),
          ...(policies
            ? [
                sql`SELECT w.id FROM workspaces w ${then} templates t ON t.id = w.template_id AND t.time_til_dormant_autodelete_ms > 0
                  WHERE w.deleting_at IS NOT NULL AND w.deleting_at < ${tick} AND w.dormant_at IS NOT NULL AND NOT w.deleted`
              ]
            : [])
        ]
        const union = rules.reduce((some, rule) => sql`${some} UNION ALL ${rule}`)
        return Effect.map(
          all(
            identified,
            // Without this barrier a store may read workspaces in the order of their ids until enough of them are due
            sql`WITH due AS MATERIALIZED (${union})
              SELECT DISTINCT id FROM due ${after === undefined ? sql`` : sql`WHERE id > ${after}`} ORDER BY id LIMIT ${limit}`
          ),
          (rows) => rows.map(({ id }) => id)
        )
      }
    })
  })
)
