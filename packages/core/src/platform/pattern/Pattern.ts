/**
 * The patterns that templates restrict values with and deployments map groups with. The syntax is RE2's. Matching takes time proportional
 * to the text, so a user's text cannot make another user's pattern run without end. https://github.com/google/re2/wiki/Syntax
 */
import { Either } from "effect"
import { run } from "./PatternMatcher.js"
import { parse } from "./PatternParser.js"
import { assemble, type PatternProgram } from "./PatternProgram.js"

/** A pattern that is ready to be matched; only this module looks into it. */
export interface Pattern {
  readonly program: PatternProgram
}

/** The longest pattern, in characters. */
const maximumPattern = 4_096
/** Steps of matching: instructions times characters. A step takes up to 60 ns, and a request must not keep the event loop for 50 ms. */
const maximumWork = 500_000

/** The pattern, or what is wrong with it. */
export const compilePattern = (source: string): Pattern | string => {
  if (source.length > maximumPattern) return `it has more than ${maximumPattern} characters`
  const parsed = parse(source)
  if (Either.isLeft(parsed)) return parsed.left
  const program = assemble(parsed.right)
  return program === undefined ? "it is too large" : { program }
}

/** Whether the pattern matches anywhere in the text; undefined when the text is too long to tell. */
export const matchesPattern = ({ program }: Pattern, text: string): boolean | undefined =>
  text.length * program.length > maximumWork ? undefined : run(program, text)
