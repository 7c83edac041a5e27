import { nextAllowedStart, storedSchedule } from "../../platform/time/Schedule.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import { autostartDays } from "../../templates/settings/EffectiveTemplate.js"
import type { Template } from "../../templates/Template.js"
import type { Workspace } from "../Workspace.js"

/** When a workspace starts by its schedule next: null without a schedule, without an allowed day within a week, and while it is dormant. §2. */
export const nextScheduledStart = (
  { autostart_schedule, dormant_at }: Pick<Workspace, "autostart_schedule" | "dormant_at">,
  template: Pick<Template, "autostart_block_days_of_week">,
  now: Timestamp
): Timestamp | null => {
  const schedule = storedSchedule(autostart_schedule)
  return schedule === null || dormant_at !== null ? null : nextAllowedStart(schedule, now, autostartDays(template))
}
