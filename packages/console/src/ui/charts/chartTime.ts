/** How the times of a chart are written. */

/** What each value of a chart is of: a day, a week that begins at the time, an hour, or the moment itself. */
export type ChartStep = "hour" | "day" | "week" | "moment"

const day = 86_400_000

/** Short texts for the axis. Moments of more than two days are written by their day. */
export const axisTime = (step: ChartStep, span: number, timeZone: string | undefined): ((at: number) => string) => {
  const byClock = step === "hour" || (step === "moment" && span <= 2 * day)
  const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone })
  const date = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone })
  return (at) => {
    if (!byClock) return date.format(at)
    const text = clock.format(at)
    return text === "00:00" ? date.format(at) : text
  }
}

/** Whole texts, for the value under the pointer and for the table. */
export const fullTime = (step: ChartStep, timeZone: string | undefined): ((at: number) => string) => {
  const date = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone })
  const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23", timeZone })
  switch (step) {
    case "day":
      return (at) => date.format(at)
    case "week":
      // A week with a change of the clock ends an hour off midnight
      return (at) => `${date.format(at)} – ${date.format(at + 6.5 * day)}`
    case "hour":
    case "moment":
      return (at) => moment.format(at)
  }
}
