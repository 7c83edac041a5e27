/** The settings that callers give a template, and the template with them applied. templates-and-provisioning.md §2.2, §2.3. */
import type { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { daysOf, noDay, otherDays } from "../../platform/time/DaysOfWeek.js"
import { type LicensedSchedule, unrestrictedSchedule } from "./EffectiveTemplate.js"
import { type CorsBehavior, isCorsBehavior, isPortShareLevel, type PortShareLevel, type Template } from "../Template.js"
import { withoutEveryone } from "../sharing/TemplateAcl.js"

export interface AutostopRequirement {
  readonly days_of_week: ReadonlyArray<string>
  readonly weeks: number
}

export interface AutostartRequirement {
  readonly days_of_week: ReadonlyArray<string>
}

/** Settings that creating and changing name alike. */
export interface CommonTemplateSettings {
  readonly name?: string | undefined
  readonly display_name?: string | undefined
  readonly description?: string | undefined
  readonly icon?: string | undefined
  readonly default_ttl_ms?: number | undefined
  readonly activity_bump_ms?: number | undefined
  readonly time_til_autostop_notify_ms?: number | undefined
  readonly autostop_requirement?: AutostopRequirement | undefined
  readonly autostart_requirement?: AutostartRequirement | undefined
  readonly allow_user_autostart?: boolean | undefined
  readonly allow_user_autostop?: boolean | undefined
  readonly allow_user_cancel_workspace_jobs?: boolean | undefined
  readonly failure_ttl_ms?: number | undefined
  readonly require_active_version?: boolean | undefined
  readonly disable_everyone_group_access?: boolean | undefined
  /** A `CorsBehavior`; empty is absent. */
  readonly cors_behavior?: string | undefined
  /** A `PortShareLevel`. */
  readonly max_port_share_level?: string | undefined
  readonly agents_allowed?: boolean | undefined
}

/** A new template's settings; absent fields get their defaults. */
export interface NewTemplateSettings extends CommonTemplateSettings {
  readonly dormant_ttl_ms?: number | undefined
  readonly delete_ttl_ms?: number | undefined
  readonly template_use_classic_parameter_flow?: boolean | undefined
}

/** Changed settings; what is absent keeps its value. */
export interface ChangedTemplateSettings extends CommonTemplateSettings {
  readonly time_til_dormant_ms?: number | undefined
  readonly time_til_dormant_autodelete_ms?: number | undefined
  readonly deprecation_message?: string | undefined
  readonly use_classic_parameter_flow?: boolean | undefined
  readonly disable_module_cache?: boolean | undefined
}

const bitmap = (names: ReadonlyArray<string>): number => {
  const parsed = daysOf(names)
  return "days" in parsed ? parsed.days : noDay
}

/** The settings that only the licensed feature writes. */
const scheduleOf = (settings: ChangedTemplateSettings, before: LicensedSchedule): LicensedSchedule => ({
  autostop_requirement_days_of_week:
    settings.autostop_requirement === undefined
      ? before.autostop_requirement_days_of_week
      : bitmap(settings.autostop_requirement.days_of_week),
  autostop_requirement_weeks:
    settings.autostop_requirement === undefined ? before.autostop_requirement_weeks : Math.max(1, settings.autostop_requirement.weeks),
  autostart_block_days_of_week:
    settings.autostart_requirement === undefined
      ? before.autostart_block_days_of_week
      : otherDays(bitmap(settings.autostart_requirement.days_of_week)),
  allow_user_autostart: settings.allow_user_autostart ?? before.allow_user_autostart,
  allow_user_autostop: settings.allow_user_autostop ?? before.allow_user_autostop,
  failure_ttl_ms: settings.failure_ttl_ms ?? before.failure_ttl_ms,
  time_til_dormant_ms: settings.time_til_dormant_ms ?? before.time_til_dormant_ms,
  time_til_dormant_autodelete_ms: settings.time_til_dormant_autodelete_ms ?? before.time_til_dormant_autodelete_ms
})

/** Milliseconds by which activity moves deadlines, unless the template says otherwise. */
const defaultActivityBump = 3_600_000

type Settings = Omit<
  Template,
  | "id"
  | "created_at"
  | "updated_at"
  | "organization_id"
  | "deleted"
  | "provisioner"
  | "active_version_id"
  | "created_by"
  | "user_acl"
  | "group_acl"
  | "active_user_count"
  | "build_time_stats"
>

/** The settings of a new template that breaks no rule. */
export const newTemplateSettings = (settings: NewTemplateSettings, features: Entitlements["Type"]): Settings => {
  const { delete_ttl_ms, dormant_ttl_ms, ...common } = settings
  const asked = { ...common, time_til_dormant_ms: dormant_ttl_ms, time_til_dormant_autodelete_ms: delete_ttl_ms }
  return {
    name: settings.name ?? "",
    display_name: settings.display_name ?? "",
    description: settings.description ?? "",
    icon: settings.icon ?? "",
    default_ttl_ms: settings.default_ttl_ms ?? 0,
    activity_bump_ms: settings.activity_bump_ms ?? defaultActivityBump,
    time_til_autostop_notify_ms: settings.time_til_autostop_notify_ms ?? 0,
    ...(features.has("advanced_template_scheduling") ? scheduleOf(asked, unrestrictedSchedule) : unrestrictedSchedule),
    allow_user_cancel_workspace_jobs: settings.allow_user_cancel_workspace_jobs ?? false,
    require_active_version: features.has("access_control") && (settings.require_active_version ?? false),
    deprecated: "",
    max_port_share_level: portShareLevel(settings.max_port_share_level, "owner"),
    cors_behavior: corsBehavior(settings.cors_behavior, "simple"),
    use_classic_parameter_flow: settings.template_use_classic_parameter_flow ?? false,
    disable_module_cache: false,
    agents_allowed: settings.agents_allowed ?? true
  }
}

const portShareLevel = (asked: string | undefined, before: PortShareLevel): PortShareLevel => (isPortShareLevel(asked) ? asked : before)

const corsBehavior = (asked: string | undefined, before: CorsBehavior): CorsBehavior => (isCorsBehavior(asked) ? asked : before)

/** The template with a change that breaks no rule. */
export const changedTemplate = <A extends Template>(template: A, settings: ChangedTemplateSettings, features: Entitlements["Type"]): A => ({
  ...template,
  name: settings.name ?? template.name,
  display_name: settings.display_name ?? template.display_name,
  description: settings.description ?? template.description,
  icon: settings.icon ?? template.icon,
  default_ttl_ms: settings.default_ttl_ms ?? template.default_ttl_ms,
  activity_bump_ms: settings.activity_bump_ms ?? template.activity_bump_ms,
  time_til_autostop_notify_ms: settings.time_til_autostop_notify_ms ?? template.time_til_autostop_notify_ms,
  ...(features.has("advanced_template_scheduling") ? scheduleOf(settings, template) : {}),
  allow_user_cancel_workspace_jobs: settings.allow_user_cancel_workspace_jobs ?? template.allow_user_cancel_workspace_jobs,
  require_active_version: features.has("access_control")
    ? (settings.require_active_version ?? template.require_active_version)
    : template.require_active_version,
  deprecated: settings.deprecation_message ?? template.deprecated,
  max_port_share_level: features.has("control_shared_ports")
    ? portShareLevel(settings.max_port_share_level, template.max_port_share_level)
    : template.max_port_share_level,
  cors_behavior: corsBehavior(settings.cors_behavior, template.cors_behavior),
  use_classic_parameter_flow: settings.use_classic_parameter_flow ?? template.use_classic_parameter_flow,
  disable_module_cache: settings.disable_module_cache ?? template.disable_module_cache,
  agents_allowed: settings.agents_allowed ?? template.agents_allowed,
  group_acl: settings.disable_everyone_group_access ? withoutEveryone(template.group_acl, template.organization_id) : template.group_acl
})

/** Whether a change of settings changes when workspaces run. */
export const changesSchedule = (before: Template, after: Template): boolean =>
  before.default_ttl_ms !== after.default_ttl_ms ||
  before.activity_bump_ms !== after.activity_bump_ms ||
  before.time_til_autostop_notify_ms !== after.time_til_autostop_notify_ms ||
  before.autostop_requirement_days_of_week !== after.autostop_requirement_days_of_week ||
  before.autostop_requirement_weeks !== after.autostop_requirement_weeks ||
  before.autostart_block_days_of_week !== after.autostart_block_days_of_week ||
  before.allow_user_autostart !== after.allow_user_autostart ||
  before.allow_user_autostop !== after.allow_user_autostop ||
  before.failure_ttl_ms !== after.failure_ttl_ms ||
  before.time_til_dormant_ms !== after.time_til_dormant_ms ||
  before.time_til_dormant_autodelete_ms !== after.time_til_dormant_autodelete_ms
