/** The spans of time that reports are about. */
import { Effect } from "effect"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { Span } from "./InsightsRepository.js"
import { type InsightsRange, parseRange } from "./InsightsRange.js"
import type { ReportQuery } from "./Insights.js"

export const hour = 3_600_000

export const day = 24 * hour

/** Days that daily counts go back. */
export const days = 60

/** Milliseconds that a zone's clock is ahead of UTC at an instant. */
export const offsetIn = (format: Intl.DateTimeFormat, millis: number): number => {
  const parts = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
  const { day = 1, hour = 0, minute = 0, month = 1, second = 0, year = 1970 } = parts
  return Date.UTC(year, month - 1, day, hour % 24, minute, second) - Math.floor(millis / 1000) * 1000
}

/** The midnight of a zone that a day begins with. `local` counts milliseconds of the zone's clock. */
export const midnightOf = (format: Intl.DateTimeFormat, local: number): number => {
  const guess = local - offsetIn(format, local)
  return local - offsetIn(format, guess)
}

export const formatIn = (timeZone: string): Intl.DateTimeFormat | undefined => {
  // Zones of the database have a slash; a caller may not name the process's own zone
  if (timeZone !== "UTC" && !/^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+$/.test(timeZone)) return undefined
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric"
    })
  } catch {
    return undefined
  }
}

export const rangeOf = ({ end_time, start_time }: ReportQuery) =>
  Effect.flatMap(Timestamp.now, (now) => parseRange(start_time, end_time, Timestamp.toMillis(now)))

export const spanOf = ({ end, start }: InsightsRange): Span => ({
  from: Timestamp.fromMillis(start.millis),
  to: Timestamp.fromMillis(end.millis)
})

export const wanted = (ids: ReadonlyArray<Uuid>) => (ids.length === 0 ? undefined : ids)

/** The steps that a report has at most: ten years of days. Each one is made before any usage is read. */
export const maximumSteps = 3660

/** Whether a report would have too many steps. */
export const isLong = ({ end, start }: InsightsRange, interval: "day" | "week"): boolean =>
  end.millis - start.millis > maximumSteps * (interval === "day" ? day : 7 * day)
