/** Functions of texts. */
import type { RE2JS } from "re2js"
import { refuse } from "../EvaluationError.js"
import { isList, SetValue, toItems, toText, type Value } from "../Values.js"
import { charactersOf, type Functions, type Implementation, integerAt, textAt } from "./Arguments.js"
import { formatText } from "./Format.js"
import { type Matcher, matchesOf, patterns } from "./Patterns.js"

/** The whole match, a list of groups, or a map of named groups. */
const matchValue = (pattern: RE2JS, matcher: Matcher): Value => {
  const count = matcher.groupCount()
  if (count === 0) return matcher.group() ?? ""
  const names = Object.entries(pattern.namedGroups())
  if (names.length > 0) return new Map(names.map(([name, index]) => [name, matcher.group(Number(index)) ?? null]))
  return Array.from({ length: count }, (_, index) => matcher.group(index + 1) ?? null)
}

const regex: Implementation = (given, { work }) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text, work)
  const matcher = pattern.matcher(text)
  return matcher.find() ? matchValue(pattern, matcher) : refuse("the pattern does not match the text")
}

const regexAll: Implementation = (given, { work }) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text, work)
  return matchesOf(pattern, textAt(given, 0), text, work, (matcher) => matchValue(pattern, matcher))
}

/** Steps for each text that is replaced. */
const stepsOfReplaced = 0.3

const replace: Implementation = (given, { work }) => {
  const [text, search, by] = [textAt(given, 0), textAt(given, 1), textAt(given, 2)]
  const count = search === "" ? text.length + 1 : text.split(search).length
  work.step(count * (stepsOfReplaced + by.length / 100))
  if (search.length > 2 && search.startsWith("/") && search.endsWith("/")) {
    const source = search.slice(1, -1)
    const pattern = patterns(source, text, work)
    const matches = matchesOf(pattern, source, text, work, () => null)
    work.step(matches.length * (1 + by.length / 20))
    // Group references of Go and of this library are alike but for the braces
    return pattern.matcher(text).replaceAll(by, true)
  }
  return text.replaceAll(search, () => by)
}

/** Steps for each text of a list that is formatted. */
const stepsOfFormatted = 2

const substr: Implementation = (given) => {
  const characters = [...textAt(given, 0)]
  const [offset, length] = [integerAt(given, 1), integerAt(given, 2)]
  const from = offset < 0 ? Math.max(0, characters.length + offset) : offset
  return characters.slice(from, length < 0 ? undefined : from + length).join("")
}

const trimSet = (text: string, signs: string, where: "both" | "start" | "end"): string => {
  const characters = [...text]
  const trimmed = new Set(signs)
  let [from, to] = [0, characters.length]
  if (where !== "end") while (from < to && trimmed.has(characters[from] ?? "")) from++
  if (where !== "start") while (to > from && trimmed.has(characters[to - 1] ?? "")) to--
  return characters.slice(from, to).join("")
}

/** The text without the ends of lines at its end. A search by a pattern would begin anew at each of them. */
const withoutLastLines = (text: string): string => {
  let end = text.length
  while (end > 0 && "\r\n".includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

export const stringFunctions: Functions = {
  chomp: (given) => withoutLastLines(textAt(given, 0)),
  endswith: (given) => textAt(given, 0).endsWith(textAt(given, 1)),
  format: (given, { work }) => formatText(textAt(given, 0), given.slice(1), work),
  formatlist: (given, { work }) => {
    const [pattern, ...rest] = given
    const lengths = rest.flatMap((value) => (isList(value) || value instanceof SetValue ? [toItems(value).length] : []))
    const [count = 1] = lengths
    work.step(count * stepsOfFormatted)
    if (lengths.some((length) => length !== count)) return refuse("the lists have different lengths")
    return Array.from({ length: count }, (_, index) =>
      formatText(
        toText(pattern ?? ""),
        rest.map((value) => (isList(value) || value instanceof SetValue ? (toItems(value)[index] ?? null) : value)),
        work
      )
    )
  },
  indent: (given, { work }) =>
    work.joined(textAt(given, 1).split("\n"), `\n${" ".repeat(Math.min(1000, Math.max(0, integerAt(given, 0))))}`),
  join: (given, { work }) => work.joined(given.slice(1).flatMap(toItems).map(toText), textAt(given, 0)),
  lower: (given) => textAt(given, 0).toLowerCase(),
  regex,
  regexall: regexAll,
  replace,
  split: (given) => textAt(given, 1).split(textAt(given, 0)),
  startswith: (given) => textAt(given, 0).startsWith(textAt(given, 1)),
  strcontains: (given) => textAt(given, 0).includes(textAt(given, 1)),
  strrev: (given, { work }) => charactersOf(textAt(given, 0), work).toReversed().join(""),
  substr,
  title: (given) =>
    textAt(given, 0).replaceAll(/(^|[^\p{L}\p{N}_])(\p{L})/gu, (_, before: string, letter: string) => before + letter.toUpperCase()),
  trim: (given) => trimSet(textAt(given, 0), textAt(given, 1), "both"),
  trimprefix: (given) => {
    const [text, prefix] = [textAt(given, 0), textAt(given, 1)]
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  },
  trimsuffix: (given) => {
    const [text, suffix] = [textAt(given, 0), textAt(given, 1)]
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
  },
  trimspace: (given) => textAt(given, 0).trim(),
  upper: (given) => textAt(given, 0).toUpperCase()
}
