import type { Uuid } from "@atelier/core/platform"
import { type BuildTimeStats, noBuildTimeStats } from "@atelier/core/templates"
import { Effect } from "effect"
import { number, row, text, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import { jobIs } from "../provisioning/JobStatus.js"
import type { Statements } from "../platform/Statements.js"

const buildTimes = row({ template_id: uuid, transition: text<keyof BuildTimeStats>(), p50: number, p95: number })
const identified = row({ id: uuid })

/** The middle and the 95th of 100 durations, of each template's latest successful builds of each transition. */
const recentBuildTimes = (sql: Statements) => {
  const milliseconds = sql.dialect({
    postgres: () => sql`round(extract(epoch FROM (j.completed_at - j.started_at)) * 1000)`,
    sqlite: () => sql`CAST(round((julianday(j.completed_at) - julianday(j.started_at)) * 86400000) AS INTEGER)`
  })

  // No more than a hundred of each version are read: the index of builds has them in the order of their creation
  const newest = (columns: string) =>
    sql`SELECT ${sql.literal(columns)} FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
        WHERE b.template_version_id = v.id AND b.transition = k.transition AND ${sql.literal(jobIs("succeeded", "j"))} AND j.started_at IS NOT NULL
        ORDER BY b.created_at DESC LIMIT 100`
  const jobs = sql.dialect({
    postgres: () => sql`CROSS JOIN LATERAL (${newest("j.started_at, j.completed_at")}) j`,
    sqlite: () => sql`JOIN provisioner_jobs j ON j.id IN (${newest("j.id")})`
  })

  return all(
    buildTimes,
    sql`WITH timed AS (
          SELECT v.template_id, k.transition, ${milliseconds} AS ms,
            row_number() OVER (PARTITION BY v.template_id, k.transition ORDER BY j.completed_at DESC) AS age
          FROM template_versions v
          CROSS JOIN (SELECT 'start' AS transition UNION ALL SELECT 'stop' UNION ALL SELECT 'delete') k
          ${jobs}
          WHERE v.template_id IS NOT NULL
        ), ranked AS (
          SELECT template_id, transition, ms,
            row_number() OVER (PARTITION BY template_id, transition ORDER BY ms) AS place,
            count(*) OVER (PARTITION BY template_id, transition) AS total
          FROM timed WHERE age <= 100
        )
        SELECT template_id, transition, min(CASE WHEN place * 2 >= total THEN ms END) AS p50,
          min(CASE WHEN place * 20 >= total * 19 THEN ms END) AS p95
        FROM ranked GROUP BY template_id, transition`
  )
}

/** Counts the users of templates, and measures their builds. */
export const refreshStatistics = (sql: Statements) =>
  Effect.gen(function* () {
    yield* run(
      sql`UPDATE templates SET active_user_count = c.owners
          FROM (SELECT t.id, (SELECT count(*) FROM (SELECT DISTINCT w.owner_id FROM workspaces w WHERE w.template_id = t.id AND NOT w.deleted) o) AS owners
            FROM templates t WHERE NOT t.deleted) c
          WHERE c.id = templates.id AND templates.active_user_count <> c.owners`
    )
    const times = yield* recentBuildTimes(sql)
    const templates = yield* all(identified, sql`SELECT id FROM templates WHERE NOT deleted`)
    const byTemplate = new Map<Uuid.Uuid, BuildTimeStats>()
    for (const { p50, p95, template_id, transition } of times) {
      const stats = byTemplate.get(template_id) ?? noBuildTimeStats
      byTemplate.set(template_id, { ...stats, [transition]: { P50: p50, P95: p95 } })
    }
    yield* Effect.forEach(
      templates.filter(({ id }) => byTemplate.has(id)),
      ({ id }) => run(sql`UPDATE templates SET build_time_stats = ${JSON.stringify(byTemplate.get(id))} WHERE id = ${id}`),
      { discard: true }
    )
  })
