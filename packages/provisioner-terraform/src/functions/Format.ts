/** How Terraform writes values into texts: `format`. */
import { refuse } from "../EvaluationError.js"
import { floorOf, isWhole, numberText, type Numeric, readNumber } from "../Numbers.js"
import { encodeJson, isNumber, toBool, toNumber, toNumeric, toText, type Value } from "../Values.js"
import type { Work } from "../Work.js"

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
      return digits === undefined
        ? text
        : Array.from(text.slice(0, digits * 2))
            .slice(0, digits)
            .join("")
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

const stepsOfVerb = 3

/** As the function `format` does. */
export const formatText = (pattern: string, given: ReadonlyArray<Value>, work: Work): string => {
  let next = 0
  let highest = 0
  let isIndexed = false
  work.step(pattern.length / 100)
  const replaced = ([whole, flags, width, precision, index, letter]: ReadonlyArray<string | undefined>): string => {
    work.step(stepsOfVerb)
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
  let text = ""
  let from = 0
  // `replaceAll` would look for all verbs before the first of them is counted
  for (const match of pattern.matchAll(/%(?:%|([-+ #0]*)([1-9]\d*)?(?:\.(\d+))?(?:\[(\d+)\])?([A-Za-z])|)/g)) {
    text += pattern.slice(from, match.index) + replaced(match)
    from = match.index + match[0].length
  }
  text += pattern.slice(from)
  return !isIndexed && highest < given.length ? refuse("the format has fewer verbs than arguments") : text
}
