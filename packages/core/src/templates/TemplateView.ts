/** Templates as readers see them. templates-and-provisioning.md §2.1. */
import { Effect, Schema } from "effect"
import { Entitlements } from "../deployment/licenses/Entitlements.js"
import { Weekday, weekdaysOf } from "../platform/time/DaysOfWeek.js"
import * as Numbers from "../platform/Numbers.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { ProvisionerType } from "../provisioning/jobs/ProvisionerJob.js"
import { autostartDays, effectiveTemplate } from "./settings/EffectiveTemplate.js"
import { BuildTimeStats, CorsBehavior, PortShareLevel, type TemplateWithNames } from "./Template.js"

const Days = Schema.Array(Weekday)

export const TemplateView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  organization_id: Uuid,
  organization_name: Schema.String,
  organization_display_name: Schema.String,
  organization_icon: Schema.String,
  name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  icon: Schema.String,
  provisioner: ProvisionerType,
  active_version_id: Uuid,
  active_user_count: Numbers.Count,
  build_time_stats: BuildTimeStats,
  created_by_id: Uuid,
  /** The username. */
  created_by_name: Schema.String,
  default_ttl_ms: Numbers.Count,
  activity_bump_ms: Numbers.Count,
  time_til_autostop_notify_ms: Numbers.Count,
  autostop_requirement: Schema.Struct({ days_of_week: Days, weeks: Numbers.Count }),
  autostart_requirement: Schema.Struct({ days_of_week: Days }),
  allow_user_autostart: Schema.Boolean,
  allow_user_autostop: Schema.Boolean,
  allow_user_cancel_workspace_jobs: Schema.Boolean,
  failure_ttl_ms: Numbers.Count,
  time_til_dormant_ms: Numbers.Count,
  time_til_dormant_autodelete_ms: Numbers.Count,
  require_active_version: Schema.Boolean,
  deprecated: Schema.Boolean,
  deprecation_message: Schema.String,
  deleted: Schema.Boolean,
  max_port_share_level: PortShareLevel,
  cors_behavior: CorsBehavior,
  use_classic_parameter_flow: Schema.Boolean,
  disable_module_cache: Schema.Boolean,
  agents_allowed: Schema.Boolean
})
export interface TemplateView extends Schema.Schema.Type<typeof TemplateView> {}

/** A template with its effective settings. */
const templateView = (template: TemplateWithNames): TemplateView => {
  const {
    autostart_block_days_of_week: _,
    autostop_requirement_days_of_week,
    autostop_requirement_weeks,
    created_by,
    deprecated,
    group_acl: __,
    user_acl: ___,
    ...shown
  } = template
  return {
    ...shown,
    created_by_id: created_by,
    autostop_requirement: { days_of_week: weekdaysOf(autostop_requirement_days_of_week), weeks: Math.max(1, autostop_requirement_weeks) },
    autostart_requirement: { days_of_week: weekdaysOf(autostartDays(template)) },
    deprecated: deprecated !== "",
    deprecation_message: deprecated
  }
}

/** The view of a stored template with its effective settings. */
export const viewInForce = (template: TemplateWithNames): Effect.Effect<TemplateView> =>
  Effect.map(Entitlements, (features) => templateView(effectiveTemplate(template, features)))
