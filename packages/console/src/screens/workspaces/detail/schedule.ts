/** The schedules that the form can write: days of the week at one time of a zone. */

export interface WeeklySchedule {
  readonly hour: number
  readonly minute: number
  /** Days of the week; Sunday is 0. */
  readonly days: ReadonlyArray<number>
  readonly zone: string
}

const daysOf = (field: string): ReadonlyArray<number> | undefined => {
  if (field === "*") return [0, 1, 2, 3, 4, 5, 6]
  const days = field.split(",").flatMap((part) => {
    const [, from = "", to = from] = /^(\d)(?:-(\d))?$/.exec(part) ?? []
    if (from === "") return [Number.NaN]
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => (Number(from) + index) % 7)
  })
  return days.some(Number.isNaN) ? undefined : [...new Set(days)].toSorted()
}

/** Reads `CRON_TZ=Europe/Oslo 30 9 * * 1-5`; undefined for a schedule of another kind. */
export const parseSchedule = (text: string): WeeklySchedule | undefined => {
  const [, zone = "UTC", minute = "", hour = "", days = ""] = /^(?:CRON_TZ=(\S+) )?(\d{1,2}) (\d{1,2}) \* \* (\S+)$/.exec(text.trim()) ?? []
  const read = daysOf(days)
  return minute === "" || read === undefined ? undefined : { zone, minute: Number(minute), hour: Number(hour), days: read }
}

export const writeSchedule = ({ days, hour, minute, zone }: WeeklySchedule): string =>
  `CRON_TZ=${zone} ${minute} ${hour} * * ${days.length === 7 ? "*" : days.join(",")}`
