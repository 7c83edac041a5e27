/** The words, signs and literals that expressions are made of, and how many of them a text holds. */
import { Either } from "effect"
import { type ExpressionProblem, problem } from "./Expression.js"

/** One word, sign or literal. */
export interface Token {
  readonly kind: "name" | "string" | "number" | "symbol" | "end"
  readonly text: string
  readonly offset: number
  /** Where the next token may start. */
  readonly end: number
}

const symbols = ["==", "!=", "&&", "||", "${", "}", "(", ")", ",", ".", "!"]
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" }

const maximumNameLength = 128
const word = /(?:-?[0-9]+|[A-Za-z_][A-Za-z0-9_-]*)/y
const whiteSpace = /\s*/y

const matchAt = (pattern: RegExp, source: string, at: number): string => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0] ?? ""
}

/** The token at `from`; white space before it is passed over. */
export const tokenAt = (source: string, from: number): Either.Either<Token, ExpressionProblem> => {
  const offset = from + matchAt(whiteSpace, source, from).length
  if (offset >= source.length) return Either.right({ kind: "end", text: "", offset, end: offset })
  const symbol = symbols.find((symbol) => source.startsWith(symbol, offset))
  if (symbol !== undefined) return Either.right({ kind: "symbol", text: symbol, offset, end: offset + symbol.length })
  const quote = source.charAt(offset)
  if (quote === '"' || quote === "'") return stringAt(source, offset, quote)
  const text = matchAt(word, source, offset)
  if (text === "") return problem(offset, `unexpected ${JSON.stringify(String.fromCodePoint(source.codePointAt(offset) ?? 0))}`)
  if (text.length > maximumNameLength) return problem(offset, `a name has at most ${maximumNameLength} characters`)
  return Either.right({ kind: /^[-0-9]/.test(text) ? "number" : "name", text, offset, end: offset + text.length })
}

const stringAt = (source: string, offset: number, quote: string): Either.Either<Token, ExpressionProblem> => {
  let text = ""
  for (let at = offset + 1; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === quote) return Either.right({ kind: "string", text, offset, end: at + 1 })
    if (character === "\\") at++
    text += character === "\\" ? (escapes[source.charAt(at)] ?? source.charAt(at)) : character
  }
  return problem(offset, `the text that starts with ${quote} has no end`)
}

/** Whether a token is a sign. */
export const is = (token: Token, symbol: string): boolean => token.kind === "symbol" && token.text === symbol

/** Words, signs and literals of the expression at `from`, up to `limit`: what reading it costs. Ends where the expression does, or breaks. */
const tokensFrom = (source: string, from: number, limit: number): { readonly tokens: number; readonly end: number } => {
  let [tokens, end, open] = [0, from, 1]
  while (tokens < limit && open > 0) {
    const token = tokenAt(source, end)
    if (Either.isLeft(token) || token.right.kind === "end") return { tokens, end: source.length }
    if (is(token.right, "${")) open++
    if (is(token.right, "}")) open--
    end = token.right.end
    tokens++
  }
  return { tokens, end }
}

/** Words, signs and literals of a condition, up to `limit`. */
export const tokensOfCondition = (source: string, limit: number): number => tokensFrom(source, 0, limit).tokens

/** Words, signs and literals of all expressions of a text, up to `limit`. */
export const tokensOfText = (source: string, limit: number): number => {
  let tokens = 0
  for (let at = source.indexOf("${"); at >= 0 && tokens < limit; at = source.indexOf("${", at)) {
    if (source.charAt(at - 1) === "$") at += 2
    else {
      const found = tokensFrom(source, at + 2, limit - tokens)
      tokens += found.tokens
      at = found.end
    }
  }
  return tokens
}
