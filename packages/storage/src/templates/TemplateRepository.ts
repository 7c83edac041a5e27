import { prebuildsUserId } from "@atelier/core/access"
import { service } from "@atelier/core/platform"
import type { ProvisionerType } from "@atelier/core/provisioning"
import { BuildTimeStats, type CorsBehavior, PortShareLevel, type Template, TemplateAcl, TemplateRepository } from "@atelier/core/templates"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { type Dialect, dialectOf, locking } from "../platform/Dialect.js"
import { boolean, columnList, json, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, runUnique } from "../platform/Statement.js"
import { Statements } from "../platform/Statements.js"
import { templateChanges } from "./TemplateChanges.js"
import { templateConditions } from "./TemplateConditions.js"
import { refreshStatistics } from "./TemplateStatistics.js"

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

type Booleans = Dialect["boolean"]

/** The columns that an update writes. */
const settings = (template: Template, bool: Booleans) => ({
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

/** The columns of a row. */
const stored = (template: Template, bool: Booleans) => ({
  ...settings(template, bool),
  id: template.id,
  created_at: template.created_at,
  organization_id: template.organization_id,
  deleted: bool(template.deleted),
  provisioner: template.provisioner,
  created_by: template.created_by,
  active_user_count: template.active_user_count,
  build_time_stats: JSON.stringify(template.build_time_stats)
})

export const layer = service(
  TemplateRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    const selected = sql`SELECT ${sql.literal(columnList(columns, "t"))},
      o.name AS organization_name, o.display_name AS organization_display_name, o.icon AS organization_icon,
      u.username AS created_by_name
      FROM templates t JOIN organizations o ON o.id = t.organization_id JOIN users u ON u.id = t.created_by`

    const forShare = locking(sql, "FOR SHARE OF t")
    const forUpdate = locking(sql, "FOR UPDATE OF t")

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
              ...templateConditions(sql, filter)
            ])}
            ORDER BY t.active_user_count DESC, t.name, t.id`
        ),
      insert: (template) => runUnique(Effect.asVoid(sql`INSERT INTO templates ${sql.insert(stored(template, bool))}`)),
      update: (template) =>
        Effect.map(
          runUnique(
            sql`UPDATE templates SET ${sql.update(settings(template, bool))} WHERE id = ${template.id} AND NOT deleted RETURNING id`
          ),
          (rows) => rows.length > 0
        ),
      lockShared: (id) => first(named, sql`${selected} WHERE t.id = ${id} AND NOT t.deleted ${forShare}`),
      lock: (id) => first(named, sql`${selected} WHERE t.id = ${id} AND NOT t.deleted ${forUpdate}`),
      hasWorkspaces: (id) =>
        applied(sql`SELECT 1 FROM workspaces WHERE template_id = ${id} AND NOT deleted AND owner_id <> ${prebuildsUserId} LIMIT 1`),
      markDeleted: (id, at) =>
        applied(sql`UPDATE templates SET deleted = ${bool(true)}, updated_at = ${at} WHERE id = ${id} AND NOT deleted RETURNING id`),
      ...templateChanges(sql),
      refreshStatistics: refreshStatistics(sql)
    })
  })
)
