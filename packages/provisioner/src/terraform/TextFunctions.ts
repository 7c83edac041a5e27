/** How Terraform writes values into texts: `format`, and dates. */
import { refuse } from "./EvaluationError.js"
import { floorOf, isWhole, numberText, type Numeric, readNumber } from "./Numbers.js"
import { encodeJson, isNumber, toBool, toNumber, toNumeric, toText, type Value } from "./Values.js"
import type { Work } from "./Work.js"

const scalarText = (value: Value, work: Work): string => {
  if (value === null) return "null"
  return typeof value === "object" && !isNumber(value) ? encodeJson(value, work) : toText(value)
}

/** The number without its fraction. */
const truncated = (value: Numeric): bigint => {
  if (value === Infinity || value === -Infinity) return refuse("the number is infinite")
  const below = floorOf(value)
  return below < 0n && !isWhole(value) ? below + 1n : below
}

/** With so many digits behind the point; exact where a double is not. */
const fixed = (value: Numeric, digits: number): string => {
  if (value === Infinity || value === -Infinity) return numberText(value)
  const [whole = "0", fraction = ""] = numberText(value).split(".")
  const kept = BigInt(`${whole.replace("-", "")}${fraction.slice(0, digits).padEnd(digits, "0")}`)
  const rest = fraction.slice(digits)
  const half = readNumber(`0.${rest || "0"}`) ?? 0
  const isUp = toNumber(half) > 0.5 || (toNumber(half) === 0.5 && (/^50*[1-9]/.test(rest) || kept % 2n === 1n))
  const text = String(isUp ? kept + 1n : kept).padStart(digits + 1, "0")
  const sign = whole.startsWith("-") ? "-" : ""
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

const exponent = (value: number, digits: number): string => value.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2")

const shortest = (number: Numeric, digits: number | undefined): string => {
  const value = toNumber(number)
  if (digits === undefined) {
    const size = Math.abs(value)
    const text = numberText(number)
    if (value === 0 || !Number.isFinite(value) || (size >= 1e-4 && size < 1e21)) return text
    const significant = text.replace(/^-/, "").replace(".", "").replace(/^0+/, "").replace(/0+$/, "")
    const power = Number(/e(.*)$/.exec(value.toExponential())?.[1])
    const mantissa = significant.length > 1 ? `${significant[0]}.${significant.slice(1)}` : significant
    return `${value < 0 ? "-" : ""}${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
  }
  const text = value.toPrecision(Math.max(1, digits))
  return text.includes("e") ? text.replace(/\.?0+e([+-])(\d)$/, "e$10$2") : text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

const verb = (letter: string, value: Value, digits: number | undefined, work: Work): string => {
  switch (letter) {
    case "s": {
      const text = scalarText(value, work)
      return digits === undefined ? text : [...text].slice(0, digits).join("")
    }
    case "v":
      // As %g, which has an exponent from 21 digits on
      return isNumber(value) ? shortest(value, digits) : scalarText(value, work)
    case "q":
      return JSON.stringify(scalarText(value, work))
    case "t":
      return String(toBool(value))
    case "d":
      return String(truncated(toNumeric(value)))
    case "b":
    case "o":
    case "x":
    case "X": {
      if ((letter === "x" || letter === "X") && typeof value === "string") {
        const hex = Buffer.from(value).toString("hex")
        return letter === "X" ? hex.toUpperCase() : hex
      }
      const text = truncated(toNumeric(value)).toString(letter === "b" ? 2 : letter === "o" ? 8 : 16)
      return letter === "X" ? text.toUpperCase() : text
    }
    case "e":
    case "E": {
      const text = exponent(toNumber(value), digits ?? 6)
      return letter === "E" ? text.toUpperCase() : text
    }
    case "f":
    case "F":
      return fixed(toNumeric(value), digits ?? 6)
    case "g":
    case "G":
      return shortest(toNumeric(value), digits)
    default:
      return refuse(`the format has no verb %${letter}`)
  }
}

const maximumWidth = 1000

/** As the function `format` does. */
export const formatText = (pattern: string, given: ReadonlyArray<Value>, work: Work): string => {
  let next = 0
  let highest = 0
  let isIndexed = false
  const text = pattern.replaceAll(
    /%(?:%|([-+ #0]*)([1-9]\d*)?(?:\.(\d+))?(?:\[(\d+)\])?([A-Za-z])|)/g,
    (
      whole,
      flags: string | undefined,
      width: string | undefined,
      precision: string | undefined,
      index: string | undefined,
      letter: string | undefined
    ) => {
      if (whole === "%%") return "%"
      if (letter === undefined) return refuse("the format ends within a verb")
      if (index !== undefined) isIndexed = true
      const at = index === undefined ? next : Number(index) - 1
      next = at + 1
      highest = Math.max(highest, next)
      const value = given[at]
      if (value === undefined) return refuse("the format has more verbs than arguments")
      const digits = precision === undefined ? undefined : Math.min(100, Number(precision))
      const plainText = work.made(verb(letter, value, digits, work))
      const signed =
        "dfFeEgG".includes(letter) && !plainText.startsWith("-")
          ? (flags?.includes("+") ? "+" : flags?.includes(" ") ? " " : "") + plainText
          : plainText
      const places = Math.min(maximumWidth, Number(width ?? 0))
      if (flags?.includes("-")) return signed.padEnd(places)
      if (flags?.includes("0") && letter !== "s" && letter !== "q") {
        const sign = /^[-+ ]/.exec(signed)?.[0] ?? ""
        return sign + signed.slice(sign.length).padStart(places - sign.length, "0")
      }
      return signed.padStart(places)
    }
  )
  return !isIndexed && highest < given.length ? refuse("the format has fewer verbs than arguments") : text
}

/** Milliseconds since the epoch of a time in the form of RFC 3339. */
export const parseTime = (text: string): number => {
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
export const parseDuration = (text: string): number => {
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

/** The text without the ends of lines at its end. A search by a pattern would begin anew at each of them. */
export const withoutLastLines = (text: string): string => {
  let end = text.length
  while (end > 0 && "\r\n".includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

/** As the function `formatdate` does; times are in UTC. */
export const formatDate = (pattern: string, time: number): string => {
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
