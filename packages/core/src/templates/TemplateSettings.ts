/**
 * What callers may say of a template when they create or change it, and the template that comes of it. Pure.
 * templates-and-provisioning.md §2.2, §2.3.
 */
import { Schema } from "effect"
import type { Entitlements } from "../deployment/Entitlements.js"
import { daysOf, noDay, otherDays } from "../platform/DaysOfWeek.js"
import type { Validation } from "../platform/Errors.js"
import * as Name from "../platform/Name.js"
import { effectiveTemplate } from "./EffectiveTemplate.js"
import { type CorsBehavior, PortShareLevel, type Template } from "./Template.js"
import { withoutEveryone } from "./TemplateAcl.js"

export interface AutostopRequirement {
  readonly days_of_week: ReadonlyArray<string>
  readonly weeks: number
}

export interface AutostartRequirement {
  readonly days_of_week: ReadonlyArray<string>
}

/** Settings that creating and changing name alike. */
interface CommonSettings {
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
  readonly cors_behavior?: CorsBehavior | "" | undefined
  readonly agents_allowed?: boolean | undefined
}

/** A new template's settings; what is absent has its default. */
export interface NewTemplateSettings extends CommonSettings {
  readonly max_port_share_level?: PortShareLevel | undefined
  readonly dormant_ttl_ms?: number | undefined
  readonly delete_ttl_ms?: number | undefined
  readonly template_use_classic_parameter_flow?: boolean | undefined
}

/** Changed settings; what is absent keeps its value. */
export interface ChangedTemplateSettings extends CommonSettings {
  /** A `PortShareLevel`; another text is refused under a name of its own. */
  readonly max_port_share_level?: string | undefined
  readonly time_til_dormant_ms?: number | undefined
  readonly time_til_dormant_autodelete_ms?: number | undefined
  readonly deprecation_message?: string | undefined
  readonly use_classic_parameter_flow?: boolean | undefined
  readonly disable_module_cache?: boolean | undefined
}

const maximumDisplayName = 64
const maximumIcon = 256
const maximumDescription = 128
/** Milliseconds: what 64 bits hold as nanoseconds. */
const maximumDuration = 9_223_372_036_854
/** Milliseconds: the shortest of durations that have one. */
const minimumDuration = 60_000
const maximumWeeks = 16

type Rule = Validation | undefined

const rule = (field: string, isBroken: boolean, detail: string): Rule => (isBroken ? { field, detail } : undefined)

const broken = (rules: ReadonlyArray<Rule>): ReadonlyArray<Validation> => rules.filter((rule) => rule !== undefined)

const notNegative = (field: string, value = 0): Rule =>
  rule(field, !(value >= 0 && value <= maximumDuration), `must be between 0 and ${maximumDuration}, not ${value}`)

const zeroOrAMinute = (field: string, value = 0): Rule =>
  rule(
    field,
    value !== 0 && !(value >= minimumDuration && value <= maximumDuration),
    `must be 0, or between ${minimumDuration} and ${maximumDuration}, not ${value}`
  )

const unknownDay = (field: string, days: ReadonlyArray<string> = []): Rule => {
  const parsed = daysOf(days)
  return "unknown" in parsed ? { field, detail: `"${parsed.unknown.slice(0, 32)}" is no weekday` } : undefined
}

const displayNameFlaw = (name: string): boolean =>
  name !== "" && (Array.from(name).length > maximumDisplayName || !/^\S(.*\S)?$/su.test(name))

const commonRules = (settings: CommonSettings): ReadonlyArray<Rule> => [
  rule(
    "display_name",
    displayNameFlaw(settings.display_name ?? ""),
    `must be at most ${maximumDisplayName} characters, and not begin or end with white space`
  ),
  rule("icon", (settings.icon ?? "").length > maximumIcon, `must be at most ${maximumIcon} characters`),
  notNegative("default_ttl_ms", settings.default_ttl_ms),
  notNegative("activity_bump_ms", settings.activity_bump_ms),
  zeroOrAMinute("time_til_autostop_notify_ms", settings.time_til_autostop_notify_ms),
  unknownDay("autostop_requirement.days_of_week", settings.autostop_requirement?.days_of_week),
  unknownDay("autostart_requirement.days_of_week", settings.autostart_requirement?.days_of_week),
  rule(
    "autostop_requirement.weeks",
    !inRange(settings.autostop_requirement?.weeks ?? 0, 0, maximumWeeks),
    `must be between 0 and ${maximumWeeks}`
  )
]

const inRange = (value: number, minimum: number, maximum: number): boolean => value >= minimum && value <= maximum

/** Every rule that a new template breaks. */
export const newTemplateFlaws = (settings: NewTemplateSettings, features: Entitlements["Type"]): ReadonlyArray<Validation> => {
  const nameFlaw = Name.flaw(settings.name ?? "")
  return broken([
    nameFlaw === undefined ? undefined : { field: "name", detail: nameFlaw },
    rule(
      "description",
      Array.from(settings.description ?? "").length >= maximumDescription,
      `must be less than ${maximumDescription} characters`
    ),
    ...commonRules(settings),
    notNegative("failure_ttl_ms", settings.failure_ttl_ms),
    notNegative("time_til_dormant_autodeletion_ms", Math.min(settings.dormant_ttl_ms ?? 0, settings.delete_ttl_ms ?? 0)),
    notNegative("time_til_dormant_autodeletion_ms", Math.max(settings.dormant_ttl_ms ?? 0, settings.delete_ttl_ms ?? 0)),
    rule(
      "max_port_share_level",
      settings.max_port_share_level !== undefined && !features.has("control_shared_ports"),
      "cannot be set: sharing of ports is not restricted without a license"
    )
  ])
}

/** Every rule that a change of a template breaks. */
export const changedTemplateFlaws = (
  template: Template,
  settings: ChangedTemplateSettings,
  features: Entitlements["Type"]
): ReadonlyArray<Validation> => {
  const nameFlaw = settings.name === undefined || settings.name === "" ? undefined : Name.flaw(settings.name)
  const reportedLevel = effectiveTemplate(template, features).max_port_share_level
  return broken([
    nameFlaw === undefined ? undefined : { field: "name", detail: nameFlaw },
    rule(
      "description",
      Array.from(settings.description ?? "").length > maximumDescription,
      `must be at most ${maximumDescription} characters`
    ),
    ...commonRules(settings),
    zeroOrAMinute("failure_ttl_ms", settings.failure_ttl_ms),
    zeroOrAMinute("time_til_dormant_ms", settings.time_til_dormant_ms),
    zeroOrAMinute("time_til_dormant_autodelete_ms", settings.time_til_dormant_autodelete_ms),
    rule(
      "max_port_sharing_level",
      settings.max_port_share_level !== undefined && !isPortShareLevel(settings.max_port_share_level),
      `must be one of ${PortShareLevel.literals.join(", ")}`
    ),
    rule(
      "max_port_sharing_level",
      settings.max_port_share_level !== undefined &&
        settings.max_port_share_level !== reportedLevel &&
        !features.has("control_shared_ports"),
      "cannot be set: sharing of ports is not restricted without a license"
    ),
    rule(
      "deprecation_message",
      isNewDeprecation(template, settings) && !features.has("access_control"),
      "cannot be set: templates are deprecated with a license only"
    )
  ])
}

const isNewDeprecation = ({ deprecated }: Template, { deprecation_message: message = "" }: ChangedTemplateSettings): boolean =>
  message !== "" && message !== deprecated

const bitmap = (names: ReadonlyArray<string>): number => {
  const parsed = daysOf(names)
  return "days" in parsed ? parsed.days : noDay
}

type Schedule = Pick<
  Template,
  | "autostop_requirement_days_of_week"
  | "autostop_requirement_weeks"
  | "autostart_block_days_of_week"
  | "allow_user_autostart"
  | "allow_user_autostop"
  | "failure_ttl_ms"
  | "time_til_dormant_ms"
  | "time_til_dormant_autodelete_ms"
>

/** What only the licensed feature writes. */
const scheduleOf = (settings: ChangedTemplateSettings, before: Schedule): Schedule => ({
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
  const unrestricted: Schedule = {
    autostop_requirement_days_of_week: noDay,
    autostop_requirement_weeks: 1,
    autostart_block_days_of_week: noDay,
    allow_user_autostart: true,
    allow_user_autostop: true,
    failure_ttl_ms: 0,
    time_til_dormant_ms: 0,
    time_til_dormant_autodelete_ms: 0
  }
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
    ...(features.has("advanced_template_scheduling") ? scheduleOf(asked, unrestricted) : unrestricted),
    allow_user_cancel_workspace_jobs: settings.allow_user_cancel_workspace_jobs ?? false,
    require_active_version: features.has("access_control") && (settings.require_active_version ?? false),
    deprecated: "",
    max_port_share_level: settings.max_port_share_level ?? "owner",
    cors_behavior: settings.cors_behavior || "simple",
    use_classic_parameter_flow: settings.template_use_classic_parameter_flow ?? false,
    disable_module_cache: false,
    agents_allowed: settings.agents_allowed ?? true
  }
}

const isPortShareLevel = Schema.is(PortShareLevel)

const portShareLevel = (asked: string | undefined, before: PortShareLevel): PortShareLevel => (isPortShareLevel(asked) ? asked : before)

/** The template with a change that breaks no rule. */
export const changedTemplate = <A extends Template>(template: A, settings: ChangedTemplateSettings, features: Entitlements["Type"]): A => ({
  ...template,
  name: settings.name || template.name,
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
  cors_behavior: settings.cors_behavior || template.cors_behavior,
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
