/** How many workspaces of a preset are wanted at a time of day, week or year. templates-and-provisioning.md §5.1, §5.3. */
import { Cron, DateTime, Either, Option } from "effect"
import { type Timestamp, toMillis } from "../../platform/time/Timestamp.js"
import type { PrebuildPolicy } from "./SourceDefinitions.js"

/** A schedule's period: it holds in every minute that it matches. */
const parsed = (cron: string): Cron.Cron | undefined => {
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5 || fields[0] !== "*") return undefined
  return Either.getOrUndefined(Cron.parse(fields.join(" ")))
}

/** An empty set of a schedule stands for every value. */
const intersect = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one.size === 0 || other.size === 0 || [...one].some((value) => other.has(value))

/** Schedules that name both a day of the month and a weekday hold on either, so each part of theirs may meet the other's. */
const shareDay = (one: Cron.Cron, other: Cron.Cron): boolean => {
  const everyDay = (cron: Cron.Cron) => cron.days.size === 0 && cron.weekdays.size === 0
  if (everyDay(one) || everyDay(other)) return true
  const bothName = (part: "days" | "weekdays") => one[part].size > 0 && other[part].size > 0
  // A day of the month falls on any weekday sooner or later
  const mixed = (one.days.size > 0 && other.weekdays.size > 0) || (one.weekdays.size > 0 && other.days.size > 0)
  return mixed || (bothName("days") && intersect(one.days, other.days)) || (bothName("weekdays") && intersect(one.weekdays, other.weekdays))
}

const overlap = (one: Cron.Cron, other: Cron.Cron): boolean =>
  intersect(one.months, other.months) && intersect(one.hours, other.hours) && shareDay(one, other)

/** Why schedules cannot be used: one is invalid, the zone is unknown, or two hold at the same time. Undefined if they can. */
export const scheduleViolation = ({ schedule, timezone }: PrebuildPolicy): string | undefined => {
  if (schedule.length === 0) return undefined
  if (Option.isNone(zoneOf(timezone))) return `has the unknown time zone ${JSON.stringify(timezone)}`
  const crons = schedule.map(({ cron }) => parsed(cron))
  const invalid = crons.indexOf(undefined)
  if (invalid >= 0) return `has the invalid schedule ${JSON.stringify(schedule[invalid]?.cron)}: five fields, the first "*"`
  const known = crons.filter((cron) => cron !== undefined)
  return known.some((one, index) => known.slice(index + 1).some((other) => overlap(one, other)))
    ? "has schedules that hold at the same time"
    : undefined
}

const zoneOf = (name: string): Option.Option<DateTime.TimeZone> => (name === "" ? Option.none() : DateTime.zoneMakeNamed(name))

/** The number of workspaces wanted now: that of the schedule that holds, or `base` where none does or the schedules cannot be used. */
export const scheduledInstances = (policy: PrebuildPolicy, base: number, now: Timestamp): number => {
  const zone = Option.getOrUndefined(zoneOf(policy.timezone))
  if (zone === undefined || scheduleViolation(policy) !== undefined) return base
  const minute = 60_000
  const at = new Date(Math.floor(toMillis(now) / minute) * minute)
  const holds = ({ cron }: { readonly cron: string }): boolean => {
    const read = Either.getOrUndefined(Cron.parse(cron, zone))
    return read !== undefined && Cron.match(read, at)
  }
  return policy.schedule.find(holds)?.instances ?? base
}
