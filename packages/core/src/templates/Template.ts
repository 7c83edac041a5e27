/** Templates, from which workspaces are created. templates-and-provisioning.md §2.1. */
import { Schema } from "effect"
import { Conflict, NotFound } from "../platform/Errors.js"
import * as Numbers from "../platform/Numbers.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { ProvisionerType } from "../provisioning/jobs/ProvisionerJob.js"
import { TemplateAcl } from "./sharing/TemplateAcl.js"

export const TemplateId = Uuid
export type TemplateId = Uuid

/** How far an agent's port may be shared, strict to open: `owner`, `organization`, `authenticated`, `public`. */
export const PortShareLevel = Schema.Literal("owner", "organization", "authenticated", "public")
export type PortShareLevel = typeof PortShareLevel.Type
export const isPortShareLevel = Schema.is(PortShareLevel)

/** Whether the service answers cross-origin questions for a workspace's apps, or the app itself. */
export const CorsBehavior = Schema.Literal("simple", "passthru")
export type CorsBehavior = typeof CorsBehavior.Type
export const isCorsBehavior = Schema.is(CorsBehavior)

/** Durations of a template's builds in milliseconds; null without data. */
export const TransitionStats = Schema.Struct({ P50: Schema.NullOr(Numbers.Count), P95: Schema.NullOr(Numbers.Count) })
export interface TransitionStats extends Schema.Schema.Type<typeof TransitionStats> {}

export const BuildTimeStats = Schema.Struct({ start: TransitionStats, stop: TransitionStats, delete: TransitionStats })
export interface BuildTimeStats extends Schema.Schema.Type<typeof BuildTimeStats> {}

const noStats: TransitionStats = { P50: null, P95: null }

/** The statistics of a template without builds. */
export const noBuildTimeStats: BuildTimeStats = { start: noStats, stop: noStats, delete: noStats }

/** A template as it is stored. `effectiveTemplate` returns the settings that the license allows. */
export const Template = Schema.Struct({
  id: TemplateId,
  created_at: Timestamp,
  updated_at: Timestamp,
  organization_id: Uuid,
  /** Final. Its versions stay readable. */
  deleted: Schema.Boolean,
  /** Unique in the organization without regard to case among those not deleted. */
  name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  icon: Schema.String,
  provisioner: ProvisionerType,
  active_version_id: Uuid,
  created_by: Uuid,
  /** How long a workspace runs unless its owner says otherwise; 0 has no end. */
  default_ttl_ms: Schema.Number,
  /** By how much activity moves a workspace's deadline; 0 not at all. */
  activity_bump_ms: Schema.Number,
  /** How long before a workspace stops its owner is reminded; 0 never. */
  time_til_autostop_notify_ms: Schema.Number,
  /** A bitmap of `DaysOfWeek`: when running workspaces have to stop; 0 never. */
  autostop_requirement_days_of_week: Schema.Number,
  /** Every how many weeks; at least 1. */
  autostop_requirement_weeks: Schema.Number,
  /** A bitmap of `DaysOfWeek`: when workspaces may not start by schedule. */
  autostart_block_days_of_week: Schema.Number,
  allow_user_autostart: Schema.Boolean,
  allow_user_autostop: Schema.Boolean,
  /** Off: only owners of the site may cancel builds that have begun. */
  allow_user_cancel_workspace_jobs: Schema.Boolean,
  /** After how long workspaces that failed are stopped; 0 never. */
  failure_ttl_ms: Schema.Number,
  /** After how long without use a workspace becomes dormant; 0 never. */
  time_til_dormant_ms: Schema.Number,
  /** After how long a dormant workspace is deleted; 0 never. */
  time_til_dormant_autodelete_ms: Schema.Number,
  /** Members have to build with the active version. */
  require_active_version: Schema.Boolean,
  /** Not empty: no new workspaces, for this reason. */
  deprecated: Schema.String,
  max_port_share_level: PortShareLevel,
  cors_behavior: CorsBehavior,
  /** Whether parameters are resolved from stored definitions alone. */
  use_classic_parameter_flow: Schema.Boolean,
  disable_module_cache: Schema.Boolean,
  /** Whether AI agents may make workspaces from it. */
  agents_allowed: Schema.Boolean,
  user_acl: TemplateAcl,
  group_acl: TemplateAcl,
  /** Distinct owners of its workspaces, counted hourly. */
  active_user_count: Schema.Number,
  /** Of the latest builds, computed hourly. */
  build_time_stats: BuildTimeStats
})
export interface Template extends Schema.Schema.Type<typeof Template> {}

/** A template with the names that readers see next to it. */
export interface TemplateWithNames extends Template {
  readonly organization_name: string
  readonly organization_display_name: string
  readonly organization_icon: string
  /** The username. */
  readonly created_by_name: string
}

/** There is no such template, or it may not be read. */
export const missingTemplate = new NotFound({ resource: "template" })

/** Another template of the organization has the name. */
export const takenTemplate = (name: string): Conflict => Conflict.taken("A template", name)
