import type { Weekdays } from "./Schedule.js"

/** What a template says about the times of its workspaces, as it is in force: without the licensed feature most of it is not. §5.2. */
export interface TemplateSchedule {
  readonly allow_user_autostart: boolean
  readonly allow_user_autostop: boolean
  /** Milliseconds; 0 is for ever. */
  readonly default_ttl_ms: number
  /** Milliseconds by which activity puts the deadline off; 0 never does. */
  readonly activity_bump_ms: number
  /** The days on which workspaces may be started by schedule. */
  readonly autostart_days: Weekdays
  /** The days on which running workspaces have to stop, and every how many weeks; no day requires nothing. */
  readonly autostop_requirement: { readonly days: Weekdays; readonly weeks: number }
  /** Milliseconds; each is off at 0. */
  readonly failure_ttl_ms: number
  readonly time_til_dormant_ms: number
  readonly time_til_dormant_autodelete_ms: number
}
