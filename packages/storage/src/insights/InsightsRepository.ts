import { SqlClient, type Statement } from "@effect/sql"
import type { UserStatus } from "@atelier/core/identity"
import { type AppUse, InsightsRepository, type Span, type StatusChange } from "@atelier/core/insights"
import type { Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { among } from "../platform/Among.js"
import { as, insertAll, items } from "../platform/Batch.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { columnList, json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, one, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"

const counts = json(Schema.Record({ key: Schema.String, value: Schema.Number }))

const agentUse = row({
  id: uuid,
  created_at: timestamp,
  user_id: uuid,
  template_id: uuid,
  connection_count: number,
  connection_median_latency_ms: number,
  session_counts: counts
})

const appUse = row({
  user_id: uuid,
  template_id: uuid,
  access_method: text<AppUse["access_method"]>(),
  slug_or_port: text(),
  session_started_at: timestamp,
  session_ended_at: timestamp
})

const usageColumns = {
  start_time: timestamp,
  end_time: timestamp,
  template_id: uuid,
  user_id: uuid,
  median_latency_ms: nullable(number),
  usage_mins: number,
  ssh_mins: number,
  sftp_mins: number,
  reconnecting_pty_mins: number,
  vscode_mins: number,
  jetbrains_mins: number,
  app_usage_mins: counts
}
const identified = row({ id: uuid })

const usage = row(usageColumns)

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
const at = row({ at: nullable(timestamp) })

export const layer = service(
  InsightsRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const ofTemplates = (column: string, ids: ReadonlyArray<Uuid.Uuid> | undefined): Statement.Fragment =>
      ids === undefined ? sql`1 = 1` : among(sql, sql.literal(column), ids)
    const newest = (statement: Statement.Statement<object>) => Effect.map(one(at, statement), ({ at }) => Option.fromNullable(at))

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
      oldestReport: newest(sql`SELECT min(created_at) AS at FROM workspace_agent_stats`),
      newestUsage: newest(sql`SELECT max(start_time) AS at FROM template_usage_stats`),
      agentUses: ({ from, to }: Span) =>
        inPages((behind: { readonly created_at: string; readonly id: string } | undefined) =>
          Effect.map(
            all(
              agentUse,
              sql`SELECT id, created_at, user_id, template_id, connection_count, connection_median_latency_ms, session_counts
                FROM workspace_agent_stats WHERE created_at >= ${from} AND created_at < ${to} AND session_counts <> '{}'
                  AND ${behind === undefined ? sql`1 = 1` : sql`(created_at, id) > (${as(sql, "timestamp", sql`${behind.created_at}`)}, ${as(sql, "uuid", sql`${behind.id}`)})`}
                ORDER BY created_at, id LIMIT ${pageSize}`
            ),
            (rows) => rows.map((row) => ({ row, place: row }))
          )
        ),
      appUses: ({ from, to }) =>
        all(
          appUse,
          sql`SELECT s.user_id, w.template_id, s.access_method, s.slug_or_port, s.session_started_at, s.session_ended_at
            FROM workspace_app_stats s JOIN workspaces w ON w.id = s.workspace_id
            WHERE s.session_ended_at >= ${from} AND s.session_started_at < ${to}`
        ),
      putUsage: (rows) =>
        run(
          insertAll(
            sql,
            "template_usage_stats",
            rows.map((each) => ({ ...each, app_usage_mins: JSON.stringify(each.app_usage_mins) })),
            sql`ON CONFLICT (start_time, template_id, user_id) DO UPDATE SET ${sql.literal(
              Object.keys(usageColumns)
                .slice(4)
                .map((name) => `${name} = excluded.${name}`)
                .join(", ")
            )}`
          )
        ),
      existing: (ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : Effect.map(all(identified, sql`SELECT id FROM workspaces WHERE id IN ${sql.in([...new Set(ids)])} AND NOT deleted`), (rows) =>
              rows.map(({ id }) => id)
            ),
      putSessions: (sessions) =>
        run(
          insertAll(
            sql,
            "workspace_app_stats",
            sessions.map((session) => ({ ...session })),
            sql`ON CONFLICT (user_id, agent_id, session_id) DO UPDATE SET
              session_ended_at = CASE WHEN excluded.session_ended_at > workspace_app_stats.session_ended_at
                THEN excluded.session_ended_at ELSE workspace_app_stats.session_ended_at END,
              requests = CASE WHEN excluded.requests > workspace_app_stats.requests
                THEN excluded.requests ELSE workspace_app_stats.requests END`
          )
        ),
      usage: ({ from, to }, templateIds) =>
        inPages((behind: { readonly start_time: string; readonly template_id: string; readonly user_id: string } | undefined) =>
          Effect.map(
            all(
              usage,
              sql`SELECT ${sql.literal(columnList(usageColumns))} FROM template_usage_stats
                WHERE start_time >= ${from} AND start_time < ${to} AND end_time <= ${to} AND ${ofTemplates("template_id", templateIds)}
                  AND ${
                    behind === undefined
                      ? sql`1 = 1`
                      : sql`(start_time, template_id, user_id) > (${as(sql, "timestamp", sql`${behind.start_time}`)}, ${as(sql, "uuid", sql`${behind.template_id}`)}, ${as(sql, "uuid", sql`${behind.user_id}`)})`
                  }
                ORDER BY start_time, template_id, user_id LIMIT ${pageSize}`
            ),
            (rows) => rows.map((row) => ({ row, place: row }))
          )
        ),
      appDefinitions: (templateIds) =>
        all(
          definition,
          sql`SELECT template_id, slug, display_name, icon FROM (
              SELECT w.template_id, x.slug, x.display_name, x.icon,
                row_number() OVER (PARTITION BY w.template_id, x.slug ORDER BY x.created_at DESC, x.id DESC) AS place
              FROM workspace_apps x JOIN workspace_agents a ON a.id = x.agent_id JOIN workspace_resources r ON r.id = a.resource_id
                JOIN workspace_builds b ON b.job_id = r.job_id JOIN workspaces w ON w.id = b.workspace_id
              WHERE ${ofTemplates("w.template_id", templateIds)}) d WHERE place = 1`
        ),
      parameterUses: ({ from, to }, templateIds) =>
        all(
          parameterUse,
          sql`SELECT l.template_id, p.name, p.type, p.display_name, p.description, p.options, v.value, count(*) AS count
            FROM (
              SELECT w.template_id, b.id, b.template_version_id,
                row_number() OVER (PARTITION BY b.workspace_id ORDER BY b.build_number DESC) AS place
              FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
              WHERE b.created_at >= ${from} AND b.created_at < ${to} AND ${ofTemplates("w.template_id", templateIds)}) l
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
      activeUsers: (spans, templateId) =>
        Effect.map(
          all(
            row({ count: number }),
            sql`SELECT count(DISTINCT s.user_id) AS count FROM ${items(sql, spans)}
              LEFT JOIN template_usage_stats s ON s.start_time >= ${as(sql, "timestamp", sql`item.value ->> 'from'`)}
                AND s.start_time < ${as(sql, "timestamp", sql`item.value ->> 'to'`)}
                AND ${templateId === undefined ? sql`1 = 1` : sql`s.template_id = ${templateId}`}
              GROUP BY item.position ORDER BY item.position`
          ),
          (rows) => rows.map(({ count }) => count)
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
