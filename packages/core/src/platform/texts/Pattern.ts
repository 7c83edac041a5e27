/**
 * The patterns that templates restrict values with and deployments map groups with. The syntax is RE2's. Matching takes time proportional
 * to the text, so a user's text cannot make another user's pattern run without end. https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from "re2js"

/** A pattern that is ready to be matched. */
export interface Pattern {
  readonly expression: RE2JS
}

/** The longest pattern, in characters. */
const maximumPattern = 4_096
/** Instructions of a compiled pattern. */
const maximumProgram = 10_000
/** Steps of matching: instructions times characters. A step takes up to 90 ns, and a request must not keep the event loop for 50 ms. */
const maximumWork = 500_000

/** The pattern, or what is wrong with it. */
export const compilePattern = (source: string): Pattern | string => {
  if (source.length > maximumPattern) return `it has more than ${maximumPattern} characters`
  try {
    const expression = RE2JS.compile(source)
    return expression.programSize() > maximumProgram ? "it is too large" : { expression }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whether the pattern matches anywhere in the text; undefined when the text is too long to tell. */
export const matchesPattern = ({ expression }: Pattern, text: string): boolean | undefined =>
  text.length * expression.programSize() > maximumWork ? undefined : expression.test(text)
