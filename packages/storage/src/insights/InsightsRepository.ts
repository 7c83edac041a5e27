import type { UserStatus } from "@atelier/core/identity"
import { InsightsRepository, type StatusChange } from "@atelier/core/insights"
import { Effect, Schema } from "effect"
import { among } from "../platform/Among.js"
import { as } from "../platform/Batch.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, one } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../platform/Statements.js"
import { counts, ofTemplates, usageStatistics } from "./UsageStatistics.js"

const identified = row({ id: uuid })

const definition = row({ template_id: uuid, slug: text(), display_name: text(), icon: text() })

const parameterUse = row({
  template_id: uuid,
  name: text(),
  type: text(),
  display_name: text(),
  description: text(),
  options: json(
    Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, value: Schema.String, icon: Schema.String }))
  ),
  value: text(),
  count: number
})

const change = row({ user_id: uuid, status: nullable(text<UserStatus>()), changed_at: timestamp, id: number, kind: number })

/** Of a version's starts, the newest so many are asked for an application. */
const askedStarts = 1_000

/** Finds the newest definition of the application `u.slug` of the template `u.template_id`. */
const newestApp = (sql: Statements): Fragment =>
  sql.dialect({
    postgres: () => sql`SELECT n.id FROM template_versions v CROSS JOIN LATERAL (
        SELECT x.id, x.created_at FROM (
            SELECT job_id, created_at FROM workspace_builds WHERE template_version_id = v.id AND transition = 'start'
            ORDER BY created_at DESC LIMIT ${sql.literal(String(askedStarts))}) b
          JOIN workspace_resources r ON r.job_id = b.job_id JOIN workspace_agents a ON a.resource_id = r.id
          JOIN workspace_apps x ON x.agent_id = a.id AND x.slug = u.slug
        ORDER BY b.created_at DESC, x.id DESC LIMIT 1) n
      WHERE v.template_id = u.template_id ORDER BY n.created_at DESC, n.id DESC LIMIT 1`,
    sqlite: () => sql`SELECT x.id FROM template_versions v
        JOIN workspace_builds b ON b.id IN (
          SELECT id FROM workspace_builds WHERE template_version_id = v.id AND transition = 'start'
          ORDER BY created_at DESC LIMIT ${sql.literal(String(askedStarts))})
        JOIN workspace_resources r ON r.job_id = b.job_id JOIN workspace_agents a ON a.resource_id = r.id
        JOIN workspace_apps x ON x.agent_id = a.id AND x.slug = u.slug
      WHERE v.template_id = u.template_id ORDER BY x.created_at DESC, x.id DESC LIMIT 1`
  })

export const layer = service(
  InsightsRepository,
  Effect.map(Statements, (sql) => {
    /** Changes of statuses in their order: of those of one instant, deletions come last. */
    const changes = (until: string, behind: { readonly changed_at: string; readonly kind: number; readonly id: number } | undefined) =>
      all(
        change,
        sql`SELECT c.* FROM (
            SELECT s.user_id, s.new_status AS status, s.changed_at, s.id, 0 AS kind FROM user_status_changes s
            UNION ALL SELECT d.user_id, NULL AS status, d.deleted_at AS changed_at, d.id, 1 AS kind FROM user_deleted d
          ) c JOIN users u ON u.id = c.user_id AND NOT u.is_system
          WHERE c.changed_at <= ${until} AND ${
            behind === undefined
              ? sql`1 = 1`
              : sql`(c.changed_at, c.kind, c.id) > (${as(sql, "timestamp", sql`${behind.changed_at}`)}, ${sql.literal(String(behind.kind))}, ${sql.literal(String(behind.id))})`
          } ORDER BY c.changed_at, c.kind, c.id LIMIT ${pageSize}`
      )

    return InsightsRepository.of({
      ...usageStatistics(sql),
      existing: (ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : Effect.map(all(identified, sql`SELECT id FROM workspaces WHERE id IN ${sql.in([...new Set(ids)])} AND NOT deleted`), (rows) =>
              rows.map(({ id }) => id)
            ),
      appDefinitions: ({ from, to }, templateIds) => {
        const slugs = sql.dialect({
          postgres: () => sql`jsonb_object_keys(s.app_usage_mins) AS k(key)`,
          sqlite: () => sql`json_each(s.app_usage_mins) k`
        })
        return all(
          definition,
          sql`SELECT u.template_id, x.slug, x.display_name, x.icon FROM (
              SELECT DISTINCT s.template_id, k.key AS slug FROM template_usage_stats s CROSS JOIN ${slugs}
              WHERE s.start_time >= ${from} AND s.start_time < ${to} AND s.end_time <= ${to} AND ${ofTemplates(sql, "s.template_id", templateIds)}) u
            JOIN workspace_apps x ON x.id = (${newestApp(sql)})`
        )
      },
      parameterUses: ({ from, to }, templateIds) =>
        all(
          parameterUse,
          sql`SELECT l.template_id, p.name, p.type, p.display_name, p.description, p.options, v.value, count(*) AS count
            FROM (
              SELECT w.template_id, b.id, b.template_version_id,
                row_number() OVER (PARTITION BY b.workspace_id ORDER BY b.build_number DESC) AS place
              FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
              WHERE b.created_at >= ${from} AND b.created_at < ${to} AND ${ofTemplates(sql, "w.template_id", templateIds)}) l
            JOIN workspace_build_parameters v ON v.workspace_build_id = l.id
            JOIN template_version_parameters p ON p.template_version_id = l.template_version_id AND p.name = v.name
            WHERE l.place = 1
            GROUP BY l.template_id, p.name, p.type, p.display_name, p.description, p.options, v.value`
        ),
      users: (ids) =>
        all(
          row({ id: uuid, username: text(), avatar_url: text() }),
          sql`SELECT id, username, avatar_url FROM users WHERE ${among(sql, sql`id`, ids)}`
        ),
      statusChanges: (until) =>
        inPages((behind: ReturnType<typeof change> | undefined) =>
          Effect.map(changes(until, behind), (rows) => rows.map((row) => ({ row: row as StatusChange, place: row })))
        ),
      traffic: (since) =>
        Effect.gen(function* () {
          const sums = yield* one(
            row({ rx_bytes: number, tx_bytes: number }),
            sql`SELECT CAST(coalesce(sum(rx_bytes), 0) AS DOUBLE PRECISION) AS rx_bytes, CAST(coalesce(sum(tx_bytes), 0) AS DOUBLE PRECISION) AS tx_bytes
              FROM workspace_agent_stats WHERE created_at > ${since}`
          )
          const latencies = yield* all(
            row({ latency: number }),
            sql`SELECT connection_median_latency_ms AS latency FROM workspace_agent_stats
              WHERE created_at > ${since} AND connection_median_latency_ms > 0`
          )
          const latest = yield* all(
            row({ session_counts: counts }),
            sql`SELECT session_counts FROM (SELECT session_counts, row_number() OVER (PARTITION BY agent_id ORDER BY created_at DESC, id DESC) AS place
              FROM workspace_agent_stats WHERE created_at > ${since}) s WHERE place = 1`
          )
          const sessions: Record<string, number> = {}
          for (const { session_counts } of latest) {
            for (const [kind, count] of Object.entries(session_counts)) sessions[kind] = (sessions[kind] ?? 0) + count
          }
          return { ...sums, latencies: latencies.map(({ latency }) => latency), sessions }
        }),
      workspaces: Effect.map(
        all(
          row({ status: text(), count: number }),
          sql`SELECT latest_status AS status, count(*) AS count FROM workspaces WHERE NOT deleted GROUP BY latest_status`
        ),
        (rows) => Object.fromEntries(rows.map(({ count, status }) => [status, count]))
      )
    })
  })
)
