import type { AppUse, InsightsRepository, Span } from "@atelier/core/insights"
import type { Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { among } from "../platform/Among.js"
import { as, insertAll, items } from "../platform/Batch.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { columnList, json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, one, run } from "../platform/Statement.js"
import type { Fragment, Query, Statements } from "../platform/Statements.js"

/** Numbers by name. */
export const counts = json(Schema.Record({ key: Schema.String, value: Schema.Number }))

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

const usage = row(usageColumns)
const at = row({ at: nullable(timestamp) })

/** Returns the condition that a column is one of some templates. */
export const ofTemplates = (sql: Statements, column: string, ids: ReadonlyArray<Uuid.Uuid> | undefined): Fragment =>
  ids === undefined ? sql`1 = 1` : among(sql, sql.literal(column), ids)

/** The use of templates in slices of time, and what it is derived from. */
export const usageStatistics = (
  sql: Statements
): Pick<
  InsightsRepository["Type"],
  "oldestReport" | "newestUsage" | "agentUses" | "appUses" | "putUsage" | "putSessions" | "usage" | "activeUsers"
> => {
  const newest = (statement: Query) => Effect.map(one(at, statement), ({ at }) => Option.fromNullable(at))

  return {
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
                WHERE start_time >= ${from} AND start_time < ${to} AND end_time <= ${to} AND ${ofTemplates(sql, "template_id", templateIds)}
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
      )
  }
}
