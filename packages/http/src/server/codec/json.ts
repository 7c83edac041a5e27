/** JSON as the interface reads and writes it. identity.md §1.2, §1.4. */

/** Levels of arrays and objects a document may nest. */
export const maximumDepth = 200

/** Values a document may hold. What is read of a document takes some microseconds per value. */
export const maximumValues = 10_000

/** Why a text is not a readable document. */
export class Unreadable {
  constructor(readonly reason: string) {}
}

/** Halves of surrogate pairs are not text, and no store keeps them: they become the replacement character, as in every other language. */
const withoutHalves = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) return value.map(withoutHalves)
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key.toWellFormed(), withoutHalves(member)] as const)
  return Object.fromEntries(members)
}

/** JSON writes halves of surrogate pairs as escapes only. */
const mayHaveHalves = (text: string): boolean => text.includes("\\u") && /\\u[dD][89a-fA-F]/.test(text)

/** Begins the text that stands for a whole number while a document is parsed. No caller can guess it. */
const marker = `integer ${crypto.randomUUID()} `

/** A document whose whole numbers of more digits than JavaScript keeps are marked texts. None has more than 19, as 64 bits. */
const withMarkedIntegers = (text: string): string => {
  let marked = ""
  let from = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfText(text, index)
    if (code !== minus && !(code >= zero && code <= nine)) continue
    numberAt.lastIndex = index
    const [number = ""] = numberAt.exec(text) ?? []
    if (/^-?[1-9]\d{15,18}$/.test(number)) {
      marked += `${text.slice(from, index)}"${marker}${number}"`
      from = index + number.length
    }
    index += Math.max(0, number.length - 1)
  }
  return marked + text.slice(from)
}

const [minus, zero, nine] = [0x2d, 0x30, 0x39]
const numberAt = /-?\d[\d.eE+-]*/y

const unmarked = (_: string, value: unknown): unknown =>
  typeof value === "string" && value.startsWith(marker) ? BigInt(value.slice(marker.length)) : value

/** The first JSON value of a text; what follows it is ignored. With `exactIntegers`, whole numbers of 16 digits and more are bigints. */
export const parseFirst = (given: string, { exactIntegers = false } = {}): unknown => {
  const violation = extentViolation(given)
  if (violation !== undefined) return new Unreadable(violation)
  const isMarked = exactIntegers && /\d{16}/.test(given)
  const text = isMarked ? withMarkedIntegers(given) : given
  const parsed = parse(text, isMarked ? unmarked : undefined)
  return !(parsed instanceof Unreadable) && mayHaveHalves(text) ? withoutHalves(parsed) : parsed
}

const parse = (text: string, reviver?: (key: string, value: unknown) => unknown): unknown => {
  try {
    return JSON.parse(text, reviver)
  } catch (error) {
    const end = endOfFirstValue(text)
    if (end !== undefined && end < text.length) {
      try {
        return JSON.parse(text.slice(0, end), reviver)
      } catch {
        // The error of the whole text says more
      }
    }
    return new Unreadable(
      text.trim() === "" ? "unexpected end of JSON input" : withoutQuote(String(error instanceof Error ? error.message : error))
    )
  }
}

/** A parser's message without the part of the document it shows, which may be of a password. */
const withoutQuote = (message: string): string =>
  message.replace(/,? ?(?:\.{3})?"[^]*"(?:\.{3})? is not valid JSON$/, "") || "is not valid JSON"

const quote = 0x22
const backslash = 0x5c

/** Where the array, object, text or word that the text begins with ends. */
const endOfFirstValue = (text: string): number | undefined => {
  const start = text.search(/\S/)
  if (start < 0) return undefined
  const first = text[start]
  if (first !== "{" && first !== "[" && first !== '"') {
    const end = text.slice(start).search(/[\s{["]/)
    return end < 0 ? undefined : start + end
  }
  let depth = 0
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = endOfText(text, index)
    } else if (code === 0x7b || code === 0x5b) {
      depth++
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    }
    if (depth === 0) return index + 1
  }
  return undefined
}

/** The index of the quote that closes the text opened at `open`. */
const endOfText = (text: string, open: number): number => {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    // A quote behind an odd number of backslashes is part of the text
    let before = close - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((close - before) % 2 === 1) return close
  }
  return text.length
}

const comma = 0x2c

/**
 * Why a document is too large to be read: what reads documents recursively must not run out of stack, and millions of small values keep
 * the process from all other requests. Values are counted before any is made: each stands behind a comma or an opening bracket.
 */
const extentViolation = (text: string): string | undefined => {
  if (text.length <= 2 * maximumDepth) return undefined
  let depth = 0
  let values = 1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfText(text, index)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maximumDepth) return `nests deeper than ${maximumDepth} levels`
      values++
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === comma) values++
    if (values > maximumValues) return `holds more than ${maximumValues} values`
  }
  return undefined
}

const unsafe = /[<>&\u2028\u2029]/g
const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029"
}

/** A value as a part of a document that is safe inside HTML. */
export const compact = (value: unknown): string =>
  JSON.stringify(value ?? null).replace(unsafe, (character) => escapes[character] ?? character)

/** A document that is safe inside HTML, ended by a line feed. */
export const stringify = (value: unknown): string => `${compact(value)}\n`
