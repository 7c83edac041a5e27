/** How many expressions a template may have: reading each part of one takes some microseconds. */
import { tokensOfCondition, tokensOfText } from "./ExpressionTokens.js"
import type { Path } from "./YamlSource.js"

/** Words, signs and literals of all expressions of a template. */
export const maximumExpressionTokens = 5000

/** The text where a template's expressions become too many. */
export const excessiveExpression = (value: unknown): Path | undefined => {
  let tokens = 0
  const excess = (value: unknown, path: Path): Path | undefined => {
    if (typeof value === "string") {
      const left = maximumExpressionTokens - tokens
      tokens += path.at(-1) === "when" ? tokensOfCondition(value, left) : tokensOfText(value, left)
      return tokens < maximumExpressionTokens ? undefined : path
    }
    if (typeof value !== "object" || value === null) return undefined
    for (const [key, member] of Object.entries(value)) {
      const found = excess(member, [...path, key])
      if (found !== undefined) return found
    }
    return undefined
  }
  return excess(value, [])
}
