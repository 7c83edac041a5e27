/** Functions of times. The present time is unknown. */
import { refuse } from "../EvaluationError.js"
import { unknown } from "../Values.js"
import { type Functions, textAt } from "./Arguments.js"

/** Milliseconds since the epoch of a time in the form of RFC 3339. */
const parseTime = (text: string): number => {
  const isTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? refuse(`${JSON.stringify(text.slice(0, 100))} is not a time in the form of RFC 3339`) : time
}

const milliseconds: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  μs: 0.001,
  ns: 0.000_001
}

/** Milliseconds of a duration such as `-1h30m`. */
const parseDuration = (text: string): number => {
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text
  if (unsigned === "0") return 0
  const part = /(\d+(?:\.\d*)?|\.\d+)([nuµμm]?s|[hm])/uy
  let sum = 0
  do {
    const [, amount, unit = ""] = part.exec(unsigned) ?? []
    if (amount === undefined) return refuse("the duration is wrong")
    sum += Number(amount) * (milliseconds[unit] ?? 0)
  } while (part.lastIndex < unsigned.length)
  return text.startsWith("-") ? -sum : sum
}
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

/** As the function `formatdate` does; times are in UTC. */
const formatDate = (pattern: string, time: number): string => {
  const date = new Date(time)
  const two = (value: number): string => String(value).padStart(2, "0")
  const month = months[date.getUTCMonth()] ?? ""
  const weekday = weekdays[date.getUTCDay()] ?? ""
  const hour = date.getUTCHours()
  const parts: Readonly<Record<string, string>> = {
    YYYY: String(date.getUTCFullYear()).padStart(4, "0"),
    YY: two(date.getUTCFullYear() % 100),
    MMMM: month,
    MMM: month.slice(0, 3),
    MM: two(date.getUTCMonth() + 1),
    M: String(date.getUTCMonth() + 1),
    DD: two(date.getUTCDate()),
    D: String(date.getUTCDate()),
    EEEE: weekday,
    EEE: weekday.slice(0, 3),
    hh: two(hour),
    h: String(hour),
    HH: two(hour % 12 || 12),
    H: String(hour % 12 || 12),
    AA: hour < 12 ? "AM" : "PM",
    aa: hour < 12 ? "am" : "pm",
    mm: two(date.getUTCMinutes()),
    m: String(date.getUTCMinutes()),
    ss: two(date.getUTCSeconds()),
    s: String(date.getUTCSeconds()),
    ZZZZZ: "+00:00",
    ZZZZ: "+0000",
    ZZZ: "UTC",
    Z: "Z"
  }
  return pattern.replaceAll(/'((?:[^']|'')*)'|([A-Za-z])\2*/g, (word, quoted: string | undefined) =>
    quoted === undefined ? (parts[word] ?? refuse(`the date format has no word ${word}`)) : quoted.replaceAll("''", "'")
  )
}

export const dateFunctions: Functions = {
  formatdate: (given) => formatDate(textAt(given, 0), parseTime(textAt(given, 1))),
  timeadd: (given) => {
    const time = new Date(parseTime(textAt(given, 0)) + parseDuration(textAt(given, 1)))
    return Number.isNaN(time.getTime()) ? refuse("the time is out of range") : time.toISOString().replace(".000Z", "Z")
  },
  timecmp: (given) => Math.sign(parseTime(textAt(given, 0)) - parseTime(textAt(given, 1))),
  timestamp: () => unknown,
  plantimestamp: () => unknown
}
