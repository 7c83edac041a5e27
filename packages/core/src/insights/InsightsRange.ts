/** The span of time that a report is about. notifications-audit-insights.md §C3. */
import { Either } from "effect"
import { Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"

const hour = 3_600_000
const day = 24 * hour

/** An instant with the offset that it was written with. */
interface Written {
  readonly millis: number
  /** Milliseconds that its clock is ahead of UTC. */
  readonly offset: number
  /** Without fractions of a second that are zero. */
  readonly text: string
}

export interface InsightsRange {
  readonly start: Written
  readonly end: Written
}

/** Reads an instant without losing its offset. */
const written = (text: string): Written | undefined => {
  const instant = Timestamp.parse(text)
  // RFC 3339 has hours up to 23
  if (instant === undefined || !/T(?!24)/.test(text)) return undefined
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})$/.exec(text) ?? []
  const offset = sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * hour + Number(minutes) * 60_000)
  return {
    millis: Timestamp.toMillis(instant),
    offset,
    text: text.replace(/\.(\d*?)0+(?=[Z+-])/, (_, kept: string) => (kept === "" ? "" : `.${kept}`))
  }
}

/** An instant of a report in the offset of the range's start. */
export const writtenAt = (millis: number, { offset, text }: Written): string => {
  const local = new Date(millis + offset)
    .toISOString()
    .replace(/\.000Z$/, "")
    .replace(/Z$/, "")
  return `${local}${text.endsWith("Z") ? "Z" : text.slice(-6)}`
}

const wholeSeconds = (millis: number): number => Math.floor(millis / 1000) * 1000
/** Milliseconds since the midnight of the instant's own offset, without fractions of a second. */
const clock = ({ millis, offset }: Written): number => (((wholeSeconds(millis) + offset) % day) + day) % day
const dayOf = ({ millis, offset }: Pick<Written, "millis" | "offset">): number => Math.floor((millis + offset) / day)

const violation = (instant: Written, now: number, isEnd: boolean): string | undefined => {
  if (Timestamp.fromMillis(instant.millis).startsWith("0001-01-01T00:00:00")) return "must not be the zero time"
  // Rounded up in the instant's own offset, which need not be whole hours
  const nextHour = (Math.floor((now + instant.offset) / hour) + 1) * hour - instant.offset
  if (instant.millis > nextHour) return "must not be in the future"
  const isToday = dayOf(instant) === dayOf({ millis: now, offset: instant.offset })
  const isAllowed = isEnd && isToday ? clock(instant) % hour === 0 : clock(instant) === 0
  // The next full hour may be the midnight after today
  if (isAllowed) return undefined
  return isEnd ? "must be midnight, or a full hour of today" : "must be midnight"
}

/** Reads the bounds of a report. Fails with `Invalid`, naming the first bound that breaks a rule, or both if both are missing. */
export const parseRange = (startText: string, endText: string, now: number): Either.Either<InsightsRange, Invalid> => {
  const refuse = (...validations: ReadonlyArray<{ readonly field: string; readonly detail: string }>) =>
    Either.left(new Invalid({ message: "Query parameters have invalid values.", validations }))
  const missing = [
    ...(startText === "" ? [{ field: "start_time", detail: "is required" }] : []),
    ...(endText === "" ? [{ field: "end_time", detail: "is required" }] : [])
  ]
  if (missing.length > 0) return refuse(...missing)
  const bounds: Array<Written> = []
  for (const [field, text] of [
    ["start_time", startText],
    ["end_time", endText]
  ] as const) {
    const instant = written(text)
    if (instant === undefined) return refuse({ field, detail: "must be an RFC 3339 date-time" })
    const detail = violation(instant, now, field === "end_time")
    if (detail !== undefined) return refuse({ field, detail })
    bounds.push(instant)
  }
  const [start, end] = bounds
  if (start === undefined || end === undefined || end.millis < start.millis) {
    return refuse({ field: "end_time", detail: "must not be before start_time" })
  }
  return Either.right({ start, end })
}

/** The steps of a report: from the start on, the last one cut at the end. Undefined for weeks that do not fit. §C4. */
export const intervals = (
  { end, start }: InsightsRange,
  interval: "day" | "week"
): ReadonlyArray<{ readonly from: number; readonly to: number }> | undefined => {
  const step = interval === "day" ? day : 7 * day
  const rest = (end.millis - start.millis) % step
  // A week of six days and a changed clock passes too
  if (interval === "week" && rest !== 0 && rest < 6 * day - hour) return undefined
  const steps: Array<{ readonly from: number; readonly to: number }> = []
  for (let from = start.millis; from < end.millis; from += step) steps.push({ from, to: Math.min(from + step, end.millis) })
  return steps
}
