/** A template's settings under the licensed features. templates-and-provisioning.md §2.1. */
import type { Entitlements, Feature } from "../../deployment/licenses/Entitlements.js"
import { type DaysOfWeek, noDay, otherDays } from "../../platform/time/DaysOfWeek.js"
import type { Template } from "../Template.js"

/** The settings of schedules that take the licensed feature. */
export type LicensedSchedule = Pick<
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

/** The schedule of a template without restrictions. */
export const unrestrictedSchedule: LicensedSchedule = {
  autostop_requirement_days_of_week: noDay,
  autostop_requirement_weeks: 1,
  autostart_block_days_of_week: noDay,
  allow_user_autostart: true,
  allow_user_autostop: true,
  failure_ttl_ms: 0,
  time_til_dormant_ms: 0,
  time_til_dormant_autodelete_ms: 0
}

/** The features that settings take. */
export const templateFeatures = [
  "advanced_template_scheduling",
  "access_control",
  "control_shared_ports"
] as const satisfies ReadonlyArray<Feature>

/** Settings of features that are off read as their defaults. */
export const effectiveTemplate = <A extends Pick<Template, "require_active_version" | "max_port_share_level">>(
  template: A,
  features: Entitlements["Type"]
): A => ({
  ...template,
  ...(features.has("advanced_template_scheduling") ? {} : unrestrictedSchedule),
  require_active_version: features.has("access_control") && template.require_active_version,
  max_port_share_level: features.has("control_shared_ports") ? template.max_port_share_level : "public"
})

/** Days on which workspaces may start by schedule. */
export const autostartDays = (template: Pick<Template, "autostart_block_days_of_week">): DaysOfWeek =>
  otherDays(template.autostart_block_days_of_week)
