/** When a running workspace is stopped, and how activity puts that off. workspaces.md §5.2, §5.3. */
import { DateTime, Duration } from "effect"
import { isOn, localMidnight, nextOccurrence, type Schedule, storedSchedule } from "../../platform/time/Schedule.js"
import { fromMillis, type Timestamp, toMillis } from "../../platform/time/Timestamp.js"
import type { Options } from "../../deployment/options/DeploymentOptions.js"
import { autostartDays } from "../../templates/settings/EffectiveTemplate.js"
import type { Template } from "../../templates/Template.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"

/** The part of a template in force that limits how long its workspaces run. */
export type TemplateSchedule = Pick<
  Template,
  | "allow_user_autostop"
  | "default_ttl_ms"
  | "activity_bump_ms"
  | "autostart_block_days_of_week"
  | "autostop_requirement_days_of_week"
  | "autostop_requirement_weeks"
>

export type Deadlines = Pick<WorkspaceBuild, "deadline" | "max_deadline">

/** A build without an end. */
export const noDeadlines: Deadlines = { deadline: null, max_deadline: null }

export interface DeadlineInput {
  /** When the build's job completed. */
  readonly completed: Timestamp
  readonly template: TemplateSchedule
  /** The workspace's own, in milliseconds. */
  readonly ttl_ms: number | null
  readonly autostart: Schedule | null
  /** The owner's quiet hours begin at these times; null where the deployment has none. */
  readonly quietHours: Schedule | null
}

const minutes = (count: number): number => Duration.toMillis(Duration.minutes(count))

const plus = (at: Timestamp, millis: number): Timestamp => fromMillis(toMillis(at) + millis)

/** The quiet hours that count for an owner: their own where the deployment allows that, else the deployment's. */
export const quietHoursInForce = (
  { allowCustomQuietHours, defaultQuietHoursSchedule }: Pick<Options, "allowCustomQuietHours" | "defaultQuietHoursSchedule">,
  own: string
): Schedule | null => storedSchedule(allowCustomQuietHours && own !== "" ? own : defaultQuietHoursSchedule)

/** The template's say on how long a start lasts, in milliseconds; 0 is for ever. */
const effectiveTtl = (template: TemplateSchedule, ttl: number | null): number =>
  template.allow_user_autostop ? (ttl ?? 0) : template.default_ttl_ms

/** When a build that has completed ends: by the workspace's time to live, and at the latest by the template's required stops. */
export const deadlines = (input: DeadlineInput): Deadlines => {
  const latest = input.quietHours === null ? null : requiredStop(input.completed, input.template, input.quietHours)
  const own = ownDeadline(input)
  return { deadline: latest !== null && (own === null || latest < own) ? latest : own, max_deadline: latest }
}

/** The time to live counts from the next scheduled start where it would end after it: a start extends a running workspace. */
const ownDeadline = ({ autostart, completed, template, ttl_ms }: DeadlineInput): Timestamp | null => {
  const ttl = effectiveTtl(template, ttl_ms)
  if (ttl <= 0) return null
  const deadline = plus(completed, ttl)
  if (autostart === null) return deadline
  const start = nextOccurrence(autostart, completed)
  return deadline > start && isOn(autostartDays(template), autostart.zone, start) ? plus(start, ttl) : deadline
}

/** Weeks are counted from this Monday. */
const epoch = "2023-01-02"
const day = 24 * 60 * minutes(1)

/** How many days a local calendar day is after the epoch. */
const daysSinceEpoch = (zone: DateTime.TimeZone, at: Timestamp): number =>
  Math.round((Date.parse(DateTime.formatIsoDate(DateTime.unsafeMakeZoned(toMillis(at), { timeZone: zone }))) - Date.parse(epoch)) / day)

/** The beginning of the quiet hours of the next required day that leaves the workspace at least an hour; null without required days. */
const requiredStop = (
  completed: Timestamp,
  { autostop_requirement_days_of_week: days, autostop_requirement_weeks: weeks }: TemplateSchedule,
  quietHours: Schedule
): Timestamp | null => {
  if (days === 0) return null
  const { zone } = quietHours
  const inTwoHours = plus(completed, minutes(120))
  let midnight = localMidnight(zone, inTwoHours)
  if (weeks > 1) {
    const period = 7 * weeks
    const past = ((daysSinceEpoch(zone, midnight) % period) + period) % period
    if (past >= 7) midnight = localMidnight(zone, midnight, period - past)
  }
  if (nextOccurrence(quietHours, plus(midnight, -minutes(15))) < inTwoHours) midnight = localMidnight(zone, midnight, 1)
  while (!isOn(days, zone, midnight)) midnight = localMidnight(zone, midnight, 1)
  const inAnHour = plus(completed, minutes(60))
  return nextOccurrence(quietHours, midnight < inAnHour ? inAnHour : plus(midnight, -minutes(15)))
}

/** A running build's shortest time to a required stop that a changed template sets, in milliseconds. */
const notice = minutes(120)

/** A build that has to stop before this instant keeps its deadlines when the template changes. */
export const settledBefore = (now: Timestamp): Timestamp => plus(now, notice)

export interface RescheduleInput extends DeadlineInput, Deadlines {
  readonly now: Timestamp
}

/**
 * The deadlines of a running build after its template's schedule changed: a required stop counts from the build's completion, and is at
 * least two hours away; the present deadline stays unless nothing sets one any more or the required stop comes earlier.
 */
export const rescheduled = (input: RescheduleInput): Deadlines => {
  const required = input.quietHours === null ? null : requiredStop(input.completed, input.template, input.quietHours)
  const earliest = settledBefore(input.now)
  const latest = required === null || required >= earliest ? required : earliest
  const kept = ownDeadline(input) === null ? null : input.deadline
  return { deadline: latest !== null && (kept === null || latest < kept) ? latest : kept, max_deadline: latest }
}

/** The shortest time to a deadline that a user may set, in milliseconds. §3.5. */
const leastExtension = minutes(29)

export interface ExtensionInput {
  readonly now: Timestamp
  /** When the build's job completed. */
  readonly completed: Timestamp
  readonly wanted: Timestamp
  readonly max_deadline: Timestamp | null
}

/** Why a running workspace cannot be given a deadline; undefined if it can. An earlier one than the present is allowed. */
export const extensionViolation = ({ completed, max_deadline, now, wanted }: ExtensionInput): string | undefined => {
  if (wanted < plus(now, leastExtension)) return "The new deadline must be at least half an hour from now."
  if (wanted < completed) return "The new deadline must be after the workspace was started."
  return max_deadline !== null && wanted > max_deadline ? "The new deadline must not be after the template's required stop." : undefined
}

export interface BumpInput extends Deadlines {
  readonly now: Timestamp
  readonly template: TemplateSchedule
  readonly ttl_ms: number | null
  /** Null also where activity says nothing about schedules: an app's status. */
  readonly autostart: Schedule | null
}

/** The later deadline that activity gives a started build, or null if the deadline stays. */
export const bumped = ({ autostart, deadline, max_deadline, now, template, ttl_ms }: BumpInput): Timestamp | null => {
  if (deadline === null || template.activity_bump_ms <= 0) return null
  const interval = bumpInterval(now, template, ttl_ms, autostart)
  // At least a twentieth of the interval has to have passed since the last bump
  if (interval <= 0 || toMillis(deadline) - 0.95 * interval >= toMillis(now)) return null
  const wanted = plus(now, interval)
  const later = wanted > deadline ? wanted : deadline
  const capped = max_deadline !== null && later > max_deadline ? max_deadline : later
  return capped > deadline ? capped : null
}

const bumpInterval = (now: Timestamp, template: TemplateSchedule, ttl: number | null, autostart: Schedule | null): number => {
  const bump = template.activity_bump_ms
  if (autostart === null) return bump
  const start = nextOccurrence(autostart, now)
  if (!isOn(autostartDays(template), autostart.zone, start) || plus(now, bump) <= start) return bump
  return toMillis(start) - toMillis(now) + effectiveTtl(template, ttl)
}
