/**
 * The language of the `q` parameter of lists: words that make one free text, and `key:value` filters. Which filters a list knows, and of
 * which type, is data that each resource declares. identity.md §10, workspaces.md §3.3, templates-and-provisioning.md §2.4.
 *
 * ```text
 * query   = element *( space element )           ; the whole query is lower-cased first
 * element = word / filter
 * word    = *( char / quoted )                   ; without a colon outside quotes
 * filter  = key 1*":" value                      ; colons outside quotes at one place, neither first nor last
 * quoted  = DQUOTE *( any character but DQUOTE ) DQUOTE
 * ```
 *
 * Quotes around a word, key or value are not part of it; a quote that is not closed lasts to the end. A filter whose quoted value is empty
 * counts as not given.
 */
import { Either } from "effect"
import { Invalid, type Validation } from "../Errors.js"
import * as Timestamp from "../time/Timestamp.js"
import { parse as parseUuid, type Uuid } from "../texts/Uuid.js"

/** A part of a query: `start` and `end` are offsets in UTF-16 code units of the text as it was sent, `end` excluded. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The longest query, in UTF-16 code units. */
export const maximumLength = 8192

/** How one value is read. */
export interface Value<out A> {
  /** The rule for a value, completing "must be …". */
  readonly expected: string
  /**
   * Returns the value of a text, or undefined if it is invalid. `segments` are the parts of a free word between slashes outside quotes:
   * `owner/name` has two, `"owner/name"` one.
   */
  readonly read: (text: string, segments?: ReadonlyArray<string>) => A | undefined
  /** Whether an empty item of a list is refused; others are left out. */
  readonly refusesEmptyItems?: boolean
  /** The value of empty quotes. Without one, the filter counts as not given. */
  readonly empty?: A
}

/** A filter: the type of its values, and whether it takes several. */
export interface Filter<out A> {
  readonly value: Value<unknown>
  /** A filter that may be given once and has one value, or one that may be repeated and also takes commas. */
  readonly takes: "one" | "list"
  /** The matching entries of the list, for documentation; completes "those …". */
  readonly matches?: string | undefined
  /** The type of the result; never a value of a filter itself. */
  readonly Type?: A
}

/** A type of values; its rule completes "must be …". */
export const value = <A>(expected: string, read: Value<A>["read"]): Value<A> => ({ expected, read })

export const text: Value<string> = value("text", (text) => text)

export const uuid: Value<Uuid> = { ...value("a UUID", parseUuid), refusesEmptyItems: true }

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "true"].map((text): [string, boolean] => [text, true]),
  ...["0", "f", "false"].map((text): [string, boolean] => [text, false])
])

export const boolean: Value<boolean> = value('"true" or "false"', (text) => booleans.get(text))

export const integer: Value<number> = value("an integer", (text) => {
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
})

export const timestamp: Value<Timestamp.Timestamp> = value("an RFC 3339 date-time in quotes", (text) => Timestamp.parse(text.toUpperCase()))

/** A calendar day, `YYYY-MM-DD`. */
export const date: Value<string> = value("a date like 2006-01-02", (text) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && Timestamp.parse(`${text}T00:00:00Z`)?.startsWith(text) ? text : undefined
)

/** One of a set of words. */
export const oneOf = <const Words extends ReadonlyArray<string>>(...words: Words): Value<Words[number]> => {
  const known = new Map<string, Words[number]>(words.map((word) => [word.toLowerCase(), word]))
  return value(`one of ${words.join(", ")}`, (text) => known.get(text))
}

/** A filter with one value, given at most once. */
export const one = <A>(value: Value<A>, matches?: string): Filter<A | undefined> => ({ value, takes: "one", matches })

/** A filter whose values are separated by commas or given by repeating it. Without one it is an empty list. */
export const list = <A>(value: Value<A>, matches?: string): Filter<ReadonlyArray<A>> => ({ value, takes: "list", matches })

/** The filters of a list by key, and the filter that free words belong to, if words are allowed. */
export interface Language<F extends Readonly<Record<string, Filter<unknown>>>> {
  readonly filters: F
  readonly words?: (keyof F & string) | undefined
  /** The field that errors of free words name. */
  readonly wordsField: string
}

export const language = <const F extends Readonly<Record<string, Filter<unknown>>>>(
  filters: F,
  words?: keyof F & string,
  wordsField = "q"
): Language<F> => ({ filters, words, wordsField })

/** The filters of a list as its documentation shows them: what the value has to be, whether there may be several, what is kept. */
export const documented = <F extends Readonly<Record<string, Filter<unknown>>>>({
  filters
}: Language<F>): ReadonlyArray<{
  readonly key: string
  readonly value: string
  readonly takes: Filter<unknown>["takes"]
  readonly matches: string
}> => Object.entries(filters).map(([key, { matches = "", takes, value }]) => ({ key, value: value.expected, takes, matches }))

type ValueOf<F> = F extends Filter<infer A> ? A : never

/** The result of a query in a language. */
export type Parsed<L> = L extends Language<infer F> ? { readonly [K in keyof F]: ValueOf<F[K]> } : never

interface Element extends Span {
  /** Undefined for a word. */
  readonly key: string | undefined
  readonly text: string
  /** Of the free words only. */
  readonly segments?: ReadonlyArray<string>
}

interface Failure extends Span {
  readonly field: string
  readonly detail: string
}

/** The text between the quotes at its ends. An expression that looks for those at the end would do so from every quote inside. */
const unquote = (text: string): string => {
  let start = 0
  let end = text.length
  while (text[start] === '"') start++
  while (end > start && text[end - 1] === '"') end--
  return text.slice(start, end)
}

/** The spans between spaces outside quotes, each with where colons outside quotes begin in it. */
const split = (query: string): ReadonlyArray<Span & { readonly colons: ReadonlyArray<number> }> => {
  const spans: Array<Span & { readonly colons: ReadonlyArray<number> }> = []
  let start = 0
  let colons: Array<number> = []
  let isQuoted = false
  for (let index = 0; index <= query.length; index++) {
    const character = query[index]
    if (character === undefined || (!isQuoted && /\s/.test(character))) {
      if (index > start) spans.push({ start, end: index, colons })
      start = index + 1
      colons = []
    } else if (character === '"') isQuoted = !isQuoted
    else if (character === ":" && !isQuoted && query[index - 1] !== ":") colons.push(index)
  }
  return spans
}

/** The parts of a text between slashes outside quotes. */
const segmentsOf = (text: string): ReadonlyArray<string> => (text.match(/(?:"[^"]*"?|[^"/])+|(?<=\/|^)(?=\/|$)/g) ?? [""]).map(unquote)

const elementsOf = (query: string): ReadonlyArray<Either.Either<Element, Failure>> =>
  split(query).map(({ start, end, colons }) => {
    const [colon] = colons
    if (colon === undefined) return Either.right({ start, end, key: undefined, text: unquote(query.slice(start, end)) })
    const refused = (detail: string): Either.Either<never, Failure> => Either.left({ start, end, field: "q", detail })
    if (colons.length > 1) return refused("has more than one colon outside quotes")
    let value = colon
    while (query[value] === ":") value++
    if (colon === start || value === end) return refused("begins or ends with a colon")
    return Either.right({ start, end, key: unquote(query.slice(start, colon)), text: unquote(query.slice(value, end)) })
  })

/** Reads all values given for one filter. */
const readFilter = (
  key: string,
  filter: Filter<unknown>,
  given: ReadonlyArray<Element>,
  wordsField: string
): Either.Either<unknown, ReadonlyArray<Failure>> => {
  const [, second] = given
  if (filter.takes === "one" && second !== undefined) {
    return Either.left([{ start: second.start, end: second.end, field: key, detail: "is given more than once" }])
  }
  const values: Array<unknown> = []
  const failures: Array<Failure> = []
  for (const { start, end, segments, text } of given) {
    const field = segments === undefined ? key : wordsField
    if (text === "") {
      if (filter.value.empty !== undefined) values.push(filter.value.empty)
      continue
    }
    for (const part of filter.takes === "list" ? text.split(",") : [text]) {
      if (part === "" && filter.value.refusesEmptyItems !== true) continue
      const read = part.includes("\0") ? undefined : filter.value.read(part, segments)
      if (read === undefined) failures.push({ start, end, field, detail: `must be ${filter.value.expected}, not ${quote(part)}` })
      else values.push(read)
    }
  }
  if (failures.length > 0) return Either.left(failures)
  return Either.right(filter.takes === "one" ? values[0] : values)
}

const quote = (text: string): string => JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)

/**
 * Parses a query. Fails with every error at once, each naming the filter (or `q` for the syntax) and its position in the query. An absent
 * filter is undefined, or an empty list.
 */
export const parse = <F extends Readonly<Record<string, Filter<unknown>>>>(
  { filters, words, wordsField }: Language<F>,
  query: string
): Either.Either<Parsed<Language<F>>, Invalid> => {
  if (query.length > maximumLength) return Either.left(refusal([{ field: "q", detail: `must be at most ${maximumLength} characters` }]))
  const failures: Array<Failure> = []
  const given = new Map<string, Array<Element>>(Object.keys(filters).map((key) => [key, []]))
  const free: Array<Element> = []

  const lowered = lowerCase(query)
  for (const element of elementsOf(lowered)) {
    if (Either.isLeft(element)) failures.push(element.left)
    else if (element.right.key === undefined) free.push(element.right)
    else {
      const { end, key, start } = element.right
      const elements = given.get(key)
      if (elements === undefined) failures.push({ start, end, field: key === "" ? "q" : key, detail: "is not a filter of this list" })
      else elements.push(element.right)
    }
  }

  const [firstWord] = free
  if (firstWord !== undefined) {
    const text = free.map((word) => word.text).join(" ")
    const segments = segmentsOf(free.map(({ end, start }) => lowered.slice(start, end)).join(" "))
    const end = free.at(-1)?.end ?? firstWord.end
    if (words !== undefined) given.get(words)?.push({ key: words, text, segments, start: firstWord.start, end })
    else failures.push({ start: firstWord.start, end, field: wordsField, detail: "has words that belong to no filter" })
  }

  const parsed: Record<string, unknown> = {}
  for (const [key, filter] of Object.entries(filters)) {
    const read = readFilter(key, filter, given.get(key) ?? [], wordsField)
    if (Either.isLeft(read)) failures.push(...read.left)
    else parsed[key] = read.right
  }
  if (failures.length > 0) {
    return Either.left(
      refusal(
        failures
          .toSorted((a, b) => a.start - b.start)
          .map(({ detail, end, field, start }) => ({
            field,
            detail: `${quote(query.slice(start, end))} at character ${start + 1} ${detail}`
          }))
      )
    )
  }
  // Built key by key from `filters`, which the type is computed from
  return Either.right(parsed as Parsed<Language<F>>)
}

/** Lower case, character by character where the whole would change its length: offsets stay those of the text as sent. */
const lowerCase = (query: string): string => {
  const lower = query.toLowerCase()
  return lower.length === query.length
    ? lower
    : Array.from(query, (character) => (character.toLowerCase().length === character.length ? character.toLowerCase() : character)).join("")
}

const refusal = (validations: ReadonlyArray<Validation>): Invalid => new Invalid({ message: "Invalid search query", validations })
