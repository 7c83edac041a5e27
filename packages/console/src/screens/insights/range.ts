/** The spans of time that insights are asked for. They begin at a midnight of the user's time zone. */

export const ranges = ["today", "week", "month", "quarter"] as const

export type RangeName = (typeof ranges)[number]

export interface Range {
  /** As RFC 3339 writes it, with the zone's offset. */
  readonly start_time: string
  readonly end_time: string
  /** What one value of a chart is of. */
  readonly interval: "day" | "week"
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Days before today. Weeks are whole ones: twelve of them end today. */
const daysBefore: Readonly<Record<RangeName, number>> = { today: 0, week: 6, month: 29, quarter: 83 }

interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
}

const localTime = (at: number, timeZone: string): LocalTime & { readonly offset: number } => {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  }).formatToParts(at)
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((each) => each.type === type)?.value)
  const local = { year: part("year"), month: part("month"), day: part("day"), hour: part("hour") }
  const asUtc = Date.UTC(local.year, local.month - 1, local.day, local.hour, part("minute"))
  return { ...local, offset: asUtc - Math.floor(at / minute) * minute }
}

const two = (value: number): string => String(value).padStart(2, "0")

const written = (asUtc: number, offset: number): string => {
  const local = new Date(asUtc).toISOString().slice(0, 19)
  const minutes = Math.round(Math.abs(offset) / minute)
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** Hours that a zone is before UTC now, whole ones: some questions take no others. */
export const offsetHours = (now: number, timeZone: string): number => Math.floor(localTime(now, timeZone).offset / hour)

/** From a midnight of the zone to the next full hour. */
export const rangeOf = (name: RangeName, now: number, timeZone: string): Range => {
  const local = localTime(now, timeZone)
  const midnight = Date.UTC(local.year, local.month - 1, local.day) - daysBefore[name] * day
  // The clock may have changed since then
  const before = localTime(midnight - local.offset, timeZone).offset
  const isFull = (now + local.offset) % hour === 0
  const end = Math.floor((now + local.offset) / hour) * hour + (isFull ? 0 : hour)
  return {
    start_time: written(midnight, before),
    end_time: written(end, local.offset),
    interval: name === "quarter" ? "week" : "day"
  }
}

/** The browser's own zone. */
export const ownZone = (): string => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone === undefined || zone === "Etc/Unknown" ? "UTC" : zone
}

/** All zones that the browser knows, the own one and UTC first. */
export const allZones = (): ReadonlyArray<string> => Array.from(new Set([ownZone(), "UTC", ...Intl.supportedValuesOf("timeZone")]))

export const isZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone }).format(0)
    return true
  } catch {
    return false
  }
}
