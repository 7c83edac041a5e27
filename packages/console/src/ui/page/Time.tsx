import { useSyncExternalStore } from "react"
import { timeText } from "../../texts/ui.js"

const units: ReadonlyArray<readonly [unit: Intl.RelativeTimeFormatUnit, milliseconds: number]> = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000]
]

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" })
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" })

/** How long ago, such as "5 min. ago". */
export const relativeTime = (at: number, now: number): string => {
  const distance = at - now
  const [unit, size] = units.find(([, milliseconds]) => Math.abs(distance) >= milliseconds) ?? ["second", 1_000]
  return relative.format(Math.round(distance / size), unit)
}

/** A time with its zone. */
export const exactTime = (at: string | number): string => exact.format(new Date(at))

const tick = 15_000
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void): (() => void) => {
  if (listeners.size === 0) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const each of listeners) each()
    }, tick)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

/** The time, which moves four times a minute, for all of the page at once. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** A moment as people say it; the exact one is shown on hover. */
export const Time = ({ at }: { readonly at: string | number | null | undefined }) => {
  const now = useNow()
  if (at === null || at === undefined || at === "") return <span className="faint">{timeText.never}</span>
  const date = new Date(at)
  // The interface says "never" by the first second of the calendar, or of Unix
  if (date.getTime() <= 0) return <span className="faint">{timeText.never}</span>
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  return (
    // The browser's own tooltip: lists show many times, and draw their rows while they scroll
    <time dateTime={date.toISOString()} title={exactTime(date.getTime())}>
      {relativeTime(date.getTime(), Math.max(now, Date.now()))}
    </time>
  )
}

/** A length of time, such as "1 h 5 min" or "4.2 s". */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`
  const minutes = Math.round(milliseconds / 60_000)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days >= 2) return `${days} d ${hours % 24} h`
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`
}
