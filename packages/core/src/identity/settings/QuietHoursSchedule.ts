/** When a user's workspaces may be stopped by what their templates require. Everything here is pure. identity.md §8.8. */
import { DateTime, Either } from "effect"
import { nextOccurrence, parseSchedule, type Schedule } from "../../platform/time/Schedule.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"

/** A start that is the same every day. */
export interface QuietHoursSchedule {
  readonly schedule: Schedule
  readonly zone: string
  readonly hour: number
  readonly minute: number
}

const isNumber = (text: string): boolean => /^\d{1,2}$/.test(text)

/** Parses `[CRON_TZ=<IANA zone> ]<minute> <hour> * * *`; without a zone it is UTC. Returns the reason if the text is invalid. */
export const parseQuietHours = (text: string): Either.Either<QuietHoursSchedule, string> =>
  Either.gen(function* () {
    const trimmed = text.trim()
    if (/^CRON_TZ=local\s/i.test(trimmed)) return yield* Either.left("must name a time zone other than the server's own")
    const schedule = yield* parseSchedule(trimmed)
    const [minute = "", hour = "", , , weekday = ""] = trimmed.replace(/^CRON_TZ=\S*\s+/, "").split(/\s+/)
    if (!isNumber(minute) || !isNumber(hour)) return yield* Either.left("must have a single minute and a single hour")
    if (weekday !== "*") return yield* Either.left('must have "*" as day of week')
    return { schedule, zone: DateTime.zoneToString(schedule.zone), hour: Number(hour), minute: Number(minute) }
  })

/** The text that is stored and shown. */
export const formatQuietHours = ({ hour, minute, zone }: QuietHoursSchedule): string => `CRON_TZ=${zone} ${minute} ${hour} * * *`

/** The local time of the start, as `HH:MM`. */
export const timeOfDay = ({ hour, minute }: QuietHoursSchedule): string =>
  [hour, minute].map((number) => String(number).padStart(2, "0")).join(":")

/** The first start after an instant. */
export const nextStart = ({ schedule }: QuietHoursSchedule, after: Timestamp): Timestamp => nextOccurrence(schedule, after)
