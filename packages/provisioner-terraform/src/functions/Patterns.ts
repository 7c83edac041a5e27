/** Regular expressions of templates, matched in bounded time. */
import { RE2JS } from "re2js"
import { EvaluationError, refuse } from "../EvaluationError.js"
import type { Work } from "../Work.js"

/** Characters of a pattern. */
export const maximumPattern = 4096

/** Instructions of a pattern times characters of a text: less than 50 ms. */
const maximumPatternWork = 500_000
/** The same in the time of a step. */
const patternWorkOfStep = 25
/** The same in the time of a step where characters are looked at again for the next match. */
const patternWorkOfNextMatch = 100

/** Steps to read a character of a pattern, and a class of Unicode's. */
const stepsOfPatternCharacter = 5
const stepsOfClass = 150

/** Steps for each match and each of its groups. */
const stepsOfGroup = 2

/** Compiled patterns by their sources, the one that was used last at the end. */
const compiled = new Map<string, RE2JS>()
const maximumCompiled = 500

const compile = (source: string, work: Work): RE2JS => {
  const known = compiled.get(source)
  compiled.delete(source)
  if (known === undefined) work.step(source.length * stepsOfPatternCharacter + (source.split(/\\p/i).length - 1) * stepsOfClass)
  const pattern = known ?? RE2JS.compile(source)
  if (known === undefined) work.step(pattern.programSize() / 2)
  compiled.set(source, pattern)
  const [oldest] = compiled.keys()
  if (compiled.size > maximumCompiled && oldest !== undefined) compiled.delete(oldest)
  return pattern
}

export const patterns = (source: string, text: string, work: Work): RE2JS => {
  if (source.length > maximumPattern) return refuse("the pattern is too long")
  try {
    const pattern = compile(source, work)
    const size = pattern.programSize() * text.length
    if (size > maximumPatternWork) return refuse("the text is too long for the pattern")
    work.step(size / patternWorkOfStep)
    return pattern
  } catch (error) {
    if (error instanceof EvaluationError) throw error
    return refuse(`the pattern is wrong: ${error instanceof Error ? error.message : String(error)}`)
  }
}

export type Matcher = ReturnType<RE2JS["matcher"]>

/**
 * What `read` makes of each match. A match may take a look at more characters than it has, and the next one looks at them again: at the whole
 * rest of the text if a part of the pattern repeats without an end.
 */
export const matchesOf = <A>(pattern: RE2JS, source: string, text: string, work: Work, read: (matcher: Matcher) => A): ReadonlyArray<A> => {
  const matcher = pattern.matcher(text)
  const size = pattern.programSize()
  const reach = /[*+]|,\}/.test(source) ? text.length : size
  const groups = 1 + matcher.groupCount()
  const found: Array<A> = []
  while (matcher.find()) {
    work.step(groups * stepsOfGroup + (Math.min(reach, text.length - matcher.end()) * size) / patternWorkOfNextMatch)
    found.push(read(matcher))
  }
  return found
}
