/** Weekly recurring times in a time zone: when workspaces start by themselves, when quiet hours begin. workspaces.md §5.1. */
import { Cron, DateTime, Either, Option } from "effect"
import { fromMillis, type Timestamp, toMillis } from "./Timestamp.js"
import type { DaysOfWeek } from "./DaysOfWeek.js"

export interface Schedule {
  readonly cron: Cron.Cron
  readonly zone: DateTime.TimeZone
}

const minute = 60_000

/** Characters of a schedule: enough to list every minute, hour and weekday of the zone with the longest name. */
const maximumSchedule = 512

/** Parses `[CRON_TZ=<IANA zone> ]<minute> <hour> * * <day of week>`; without a zone it is UTC. Returns the reason if the text is invalid. */
export const parseSchedule = (text: string): Either.Either<Schedule, string> =>
  Either.gen(function* () {
    if (text.length > maximumSchedule) return yield* Either.left(`must be at most ${maximumSchedule} characters`)
    const prefixed = /^CRON_TZ=(\S*)\s+(.*)$/.exec(text)
    const zone = yield* zoneNamed(prefixed?.[1] || "UTC")
    const expression = (prefixed?.[2] ?? text).trim()
    const fields = expression.split(/\s+/)
    if (fields.length !== 5) return yield* Either.left("must have five fields: minute, hour, day of month, month, day of week")
    if (fields[2] !== "*" || fields[3] !== "*") return yield* Either.left('must have "*" as day of month and as month')
    if (/7/.test((fields[4] ?? "").replaceAll(/\/\d+/g, ""))) return yield* Either.left("must have weekdays from 0, which is Sunday, to 6")
    const cron = yield* Either.mapLeft(Cron.parse(fields.join(" "), zone), ({ message }) => `is not a schedule: ${message}`)
    return { cron, zone }
  })

/** A schedule that was accepted earlier; null for an absent or empty text. */
export const storedSchedule = (text: string | null): Schedule | null =>
  text === null || text === "" ? null : Either.getOrElse(parseSchedule(text), () => null)

const zoneNamed = (name: string): Either.Either<DateTime.TimeZone, string> =>
  // Offsets such as +01:00 name no zone, and names in other letters are not those of the IANA database
  Either.fromOption(
    /^[A-Z]\w*([+-]\w+)*(\/[A-Z]\w*([+-]\w+)*)*$/.test(name) ? DateTime.zoneMakeNamed(name) : Option.none(),
    () => `names the unknown time zone "${name}"`
  )

/**
 * The first occurrence after an instant, to the minute. A local time that a change of the clock leaves out occurs later by as much as the clock is
 * put forward. One that the clock shows twice occurs the first time.
 */
export const nextOccurrence = ({ cron }: Schedule, after: Timestamp): Timestamp => {
  const instant = toMillis(after)
  // For an instant whose local time the clock shows the second time, the library finds occurrences of the first time, which have passed
  for (let from = instant; ; from = (Math.floor(from / minute) + 1) * minute) {
    const next = Cron.next(cron, new Date(from)).getTime()
    if (next > instant) return fromMillis(next)
  }
}

/** Midnight in a zone: of an instant's local day, or of a day that many days later. */
export const localMidnight = (zone: DateTime.TimeZone, at: Timestamp, daysLater = 0): Timestamp =>
  DateTime.unsafeMakeZoned(toMillis(at), { timeZone: zone }).pipe(
    DateTime.startOf("day"),
    DateTime.add({ days: daysLater }),
    DateTime.startOf("day"),
    DateTime.toEpochMillis,
    fromMillis
  )

/** Days since Monday of an instant's local week: 0 is Monday, 6 Sunday. */
export const weekday = (zone: DateTime.TimeZone, at: Timestamp): number =>
  (DateTime.getPart(DateTime.unsafeMakeZoned(toMillis(at), { timeZone: zone }), "weekDay") + 6) % 7

/** Whether the days contain the weekday of an instant. */
export const isOn = (days: DaysOfWeek, zone: DateTime.TimeZone, at: Timestamp): boolean => (days & (1 << weekday(zone, at))) !== 0

/**
 * The first occurrence that falls on one of the days; null if the schedule never does. Each weekday comes within seven local days, which last longer
 * than seven times 24 hours where the clock is put back.
 */
export const nextAllowedStart = (schedule: Schedule, after: Timestamp, days: DaysOfWeek): Timestamp | null => {
  const end = localMidnight(schedule.zone, after, 8)
  let from = after
  for (;;) {
    const next = nextOccurrence(schedule, from)
    if (next >= end) return null
    if (isOn(days, schedule.zone, next)) return next
    // The rest of that local day is not allowed either
    from = fromMillis(toMillis(localMidnight(schedule.zone, next, 1)) - minute)
  }
}
