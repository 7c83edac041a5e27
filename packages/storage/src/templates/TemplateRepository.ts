import { SqlClient, type Statement } from "@effect/sql"
import { prebuildsUserId } from "@atelier/core/access"
import { Uuid, service } from "@atelier/core/platform"
import type { ProvisionerType } from "@atelier/core/provisioning"
import {
  BuildTimeStats,
  type CorsBehavior,
  noBuildTimeStats,
  PortShareLevel,
  type Template,
  TemplateAcl,
  type TemplateFilter,
  TemplateRepository
} from "@atelier/core/templates"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { dialectOf, inDialect, locking } from "../platform/Dialect.js"
import { boolean, columnList, json, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, run, runUnique } from "../platform/Statement.js"
import { jobIs } from "../provisioning/JobStatus.js"

const columns = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  organization_id: uuid,
  deleted: boolean,
  name: text(),
  display_name: text(),
  description: text(),
  icon: text(),
  provisioner: text<ProvisionerType>(),
  active_version_id: uuid,
  created_by: uuid,
  default_ttl_ms: number,
  activity_bump_ms: number,
  time_til_autostop_notify_ms: number,
  autostop_requirement_days_of_week: number,
  autostop_requirement_weeks: number,
  autostart_block_days_of_week: number,
  allow_user_autostart: boolean,
  allow_user_autostop: boolean,
  allow_user_cancel_workspace_jobs: boolean,
  failure_ttl_ms: number,
  time_til_dormant_ms: number,
  time_til_dormant_autodelete_ms: number,
  require_active_version: boolean,
  deprecated: text(),
  max_port_share_level: text<PortShareLevel>(),
  cors_behavior: text<CorsBehavior>(),
  use_classic_parameter_flow: boolean,
  disable_module_cache: boolean,
  agents_allowed: boolean,
  user_acl: json(TemplateAcl),
  group_acl: json(TemplateAcl),
  active_user_count: number,
  build_time_stats: json(BuildTimeStats)
}

const named = row({
  ...columns,
  organization_name: text(),
  organization_display_name: text(),
  organization_icon: text(),
  created_by_name: text()
})

const buildTimes = row({ template_id: uuid, transition: text<keyof BuildTimeStats>(), p50: number, p95: number })
const identified = row({ id: uuid })

export const layer = service(
  TemplateRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)

    const selected = sql`SELECT ${sql.literal(columnList(columns, "t"))},
      o.name AS organization_name, o.display_name AS organization_display_name, o.icon AS organization_icon,
      u.username AS created_by_name
      FROM templates t JOIN organizations o ON o.id = t.organization_id JOIN users u ON u.id = t.created_by`

    const forShare = locking(sql, "FOR SHARE OF t")
    const forUpdate = locking(sql, "FOR UPDATE OF t")

    /** Whether a text holds another, both in lower case. */
    const holds = (haystack: Statement.Fragment, needle: string): Statement.Fragment =>
      inDialect(sql, {
        postgres: () => sql`strpos(lower(${haystack}), ${needle.toLowerCase()}) > 0`,
        sqlite: () => sql`instr(lower(${haystack}), ${needle.toLowerCase()}) > 0`
      })

    const stored = (template: Template) => ({
      ...settings(template),
      id: template.id,
      created_at: template.created_at,
      organization_id: template.organization_id,
      deleted: bool(template.deleted),
      provisioner: template.provisioner,
      created_by: template.created_by,
      active_user_count: template.active_user_count,
      build_time_stats: JSON.stringify(template.build_time_stats)
    })

    /** The columns that an update writes. */
    const settings = (template: Template) => ({
      updated_at: template.updated_at,
      name: template.name,
      display_name: template.display_name,
      description: template.description,
      icon: template.icon,
      active_version_id: template.active_version_id,
      default_ttl_ms: template.default_ttl_ms,
      activity_bump_ms: template.activity_bump_ms,
      time_til_autostop_notify_ms: template.time_til_autostop_notify_ms,
      autostop_requirement_days_of_week: template.autostop_requirement_days_of_week,
      autostop_requirement_weeks: template.autostop_requirement_weeks,
      autostart_block_days_of_week: template.autostart_block_days_of_week,
      allow_user_autostart: bool(template.allow_user_autostart),
      allow_user_autostop: bool(template.allow_user_autostop),
      allow_user_cancel_workspace_jobs: bool(template.allow_user_cancel_workspace_jobs),
      failure_ttl_ms: template.failure_ttl_ms,
      time_til_dormant_ms: template.time_til_dormant_ms,
      time_til_dormant_autodelete_ms: template.time_til_dormant_autodelete_ms,
      require_active_version: bool(template.require_active_version),
      deprecated: template.deprecated,
      max_port_share_level: template.max_port_share_level,
      cors_behavior: template.cors_behavior,
      use_classic_parameter_flow: bool(template.use_classic_parameter_flow),
      disable_module_cache: bool(template.disable_module_cache),
      agents_allowed: bool(template.agents_allowed),
      user_acl: JSON.stringify(template.user_acl),
      group_acl: JSON.stringify(template.group_acl)
    })

    const milliseconds = inDialect(sql, {
      postgres: () => sql`round(extract(epoch FROM (j.completed_at - j.started_at)) * 1000)`,
      sqlite: () => sql`CAST(round((julianday(j.completed_at) - julianday(j.started_at)) * 86400000) AS INTEGER)`
    })

    /** The middle and the 95th of 100 durations, of each template's latest successful builds of each transition. */
    const recentBuildTimes = all(
      buildTimes,
      sql`WITH timed AS (
          SELECT v.template_id, b.transition, ${milliseconds} AS ms,
            row_number() OVER (PARTITION BY v.template_id, b.transition ORDER BY j.completed_at DESC) AS age
          FROM workspace_builds b
          JOIN template_versions v ON v.id = b.template_version_id
          JOIN provisioner_jobs j ON j.id = b.job_id
          WHERE ${sql.literal(jobIs("succeeded", "j"))} AND j.started_at IS NOT NULL AND v.template_id IS NOT NULL
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

    const conditions = (filter: TemplateFilter): ReadonlyArray<Statement.Fragment> => {
      const when = <A>(value: A | undefined, condition: (value: A) => Statement.Fragment) => (value === undefined ? [] : [condition(value)])
      return [
        ...when(filter.organization_id, (id) => sql`t.organization_id = ${id}`),
        ...when(filter.ids, (ids) => (ids.length === 0 ? sql`1 = 0` : sql`t.id IN ${sql.in(ids)}`)),
        ...when(filter.exact_name, (name) => sql`lower(t.name) = lower(${name})`),
        ...when(filter.exact_display_name, (name) => sql`lower(t.display_name) = lower(${name})`),
        ...when(filter.name, (name) => holds(sql`t.name`, name)),
        ...when(
          filter.display_name,
          (name) =>
            sql`CASE WHEN t.display_name <> '' THEN ${holds(sql`t.display_name`, name)} ELSE ${holds(sql`t.name`, name.replaceAll(" ", ""))} END`
        ),
        ...when(filter.deprecated, (deprecated) => (deprecated ? sql`t.deprecated <> ''` : sql`t.deprecated = ''`)),
        ...when(filter.has_ai_task, (has) => sql`coalesce(v.has_ai_task, ${bool(false)}) = ${bool(has)}`),
        ...when(filter.has_external_agent, (has) => sql`coalesce(v.has_external_agent, ${bool(false)}) = ${bool(has)}`),
        ...when(filter.author_id, (id) => sql`t.created_by = ${id}`),
        ...when(filter.author_username, (name) => sql`lower(u.username) = lower(${name})`)
      ]
    }

    return TemplateRepository.of({
      byId: (id) => first(named, sql`${selected} WHERE t.id = ${id}`),
      byIds: (ids) => all(named, sql`${selected} WHERE t.id IN ${sql.in(ids)}`),
      byName: (organizationId, name) =>
        first(named, sql`${selected} WHERE t.organization_id = ${organizationId} AND lower(t.name) = lower(${name}) AND NOT t.deleted`),
      list: (filter, readable) =>
        all(
          named,
          sql`${selected} LEFT JOIN template_versions v ON v.id = t.active_version_id
            WHERE ${sql.and([
              sql`t.deleted = ${bool(filter.deleted)}`,
              accessCondition(sql, readable, { id: "t.id", org: "t.organization_id", userAcl: "t.user_acl", groupAcl: "t.group_acl" }),
              ...conditions(filter)
            ])}
            ORDER BY t.active_user_count DESC, t.name, t.id`
        ),
      insert: (template) => runUnique(Effect.asVoid(sql`INSERT INTO templates ${sql.insert(stored(template))}`)),
      update: (template) =>
        Effect.map(
          runUnique(sql`UPDATE templates SET ${sql.update(settings(template))} WHERE id = ${template.id} AND NOT deleted RETURNING id`),
          (rows) => rows.length > 0
        ),
      lockShared: (id) => first(named, sql`${selected} WHERE t.id = ${id} AND NOT t.deleted ${forShare}`),
      lock: (id) => first(named, sql`${selected} WHERE t.id = ${id} AND NOT t.deleted ${forUpdate}`),
      hasWorkspaces: (id) =>
        applied(sql`SELECT 1 FROM workspaces WHERE template_id = ${id} AND NOT deleted AND owner_id <> ${prebuildsUserId} LIMIT 1`),
      markDeleted: (id, at) =>
        applied(sql`UPDATE templates SET deleted = ${bool(true)}, updated_at = ${at} WHERE id = ${id} AND NOT deleted RETURNING id`),
      reschedule: (id, { dormant_at, last_used_at, time_til_deletion_ms, ttl_ms }) =>
        Effect.gen(function* () {
          const workspaces = sql`template_id = ${id} AND NOT deleted`
          const dormant = sql`${workspaces} AND dormant_at IS NOT NULL`
          if (ttl_ms !== undefined) yield* run(sql`UPDATE workspaces SET ttl_ms = ${ttl_ms} WHERE ${workspaces}`)
          if (last_used_at !== undefined) yield* run(sql`UPDATE workspaces SET last_used_at = ${last_used_at} WHERE ${workspaces}`)
          if (dormant_at !== undefined) yield* run(sql`UPDATE workspaces SET dormant_at = ${dormant_at} WHERE ${dormant}`)
          if (time_til_deletion_ms === null) yield* run(sql`UPDATE workspaces SET deleting_at = NULL WHERE ${dormant}`)
          else if (time_til_deletion_ms !== undefined) {
            const deletion = inDialect(sql, {
              postgres: () => sql`dormant_at + ${time_til_deletion_ms} * interval '1 millisecond'`,
              sqlite: () => sql`strftime('%Y-%m-%dT%H:%M:%fZ', dormant_at, '+' || (${time_til_deletion_ms} / 1000.0) || ' seconds')`
            })
            yield* run(sql`UPDATE workspaces SET deleting_at = ${deletion} WHERE ${dormant}`)
          }
        }),
      limitPortShares: (id, maximum) => {
        const ofTemplate = sql`workspace_id IN (SELECT w.id FROM workspaces w WHERE w.template_id = ${id})`
        const { literals } = PortShareLevel
        const above = literals.slice(literals.indexOf(maximum) + 1)
        if (above.length === 0) return Effect.void
        const shares = sql`${ofTemplate} AND share_level IN ${sql.in(above)}`
        return maximum === "owner"
          ? run(sql`DELETE FROM workspace_port_shares WHERE ${shares}`)
          : run(sql`UPDATE workspace_port_shares SET share_level = ${maximum} WHERE ${shares}`)
      },
      refreshStatistics: Effect.gen(function* () {
        const owners = sql`(SELECT count(DISTINCT w.owner_id) FROM workspaces w WHERE w.template_id = templates.id AND NOT w.deleted)`
        yield* run(sql`UPDATE templates SET active_user_count = ${owners} WHERE NOT deleted AND active_user_count <> ${owners}`)
        const times = yield* recentBuildTimes
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
    })
  })
)
