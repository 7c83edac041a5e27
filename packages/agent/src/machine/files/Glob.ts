/**
 * Patterns of names: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a character that stands for itself, and `**` for any directories. Matching takes at most the
 * product of both lengths, since going back to the latest star suffices.
 */
import { FileError } from "./FileError.js"

/** Characters of a pattern. */
export const maximumPattern = 1024

type Token = "star" | ((character: string) => boolean)

/** Whether items match tokens. A token of `isStar` stands for any number of items. */
const matchesAll = <T, Item>(
  tokens: ReadonlyArray<T>,
  items: ReadonlyArray<Item>,
  isStar: (token: T) => boolean,
  matches: (token: T, item: Item) => boolean
): boolean => {
  let token = 0
  let item = 0
  let star = -1
  let resumed = 0
  while (item < items.length) {
    const wanted = tokens[token]
    const given = items[item]
    if (wanted !== undefined && isStar(wanted)) {
      star = token++
      resumed = item
    } else if (wanted !== undefined && given !== undefined && matches(wanted, given)) {
      token++
      item++
    } else if (star >= 0) {
      token = star + 1
      item = ++resumed
    } else return false
  }
  return tokens.slice(token).every(isStar)
}

/** Reads the set of characters that begins at a position; undefined where it does not end. */
const setOf = (pattern: ReadonlyArray<string>, start: number): { readonly token: Token; readonly next: number } | undefined => {
  const isNegated = pattern[start] === "!" || pattern[start] === "^"
  const first = isNegated ? start + 1 : start
  // A bracket that comes first is a member
  const end = pattern.indexOf("]", first + 1)
  if (end === -1) return undefined
  const ranges: Array<readonly [string, string]> = []
  for (let at = first; at < end;) {
    const from = pattern[at] ?? ""
    const isRange = pattern[at + 1] === "-" && at + 2 < end
    ranges.push([from, isRange ? (pattern[at + 2] ?? "") : from])
    at += isRange ? 3 : 1
  }
  return { token: (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isNegated, next: end + 1 }
}

const tokensOf = (segment: string): ReadonlyArray<Token> => {
  const pattern = [...segment]
  const tokens: Array<Token> = []
  for (let at = 0; at < pattern.length;) {
    const character = pattern[at++] ?? ""
    const set = character === "[" ? setOf(pattern, at) : undefined
    if (set !== undefined) {
      tokens.push(set.token)
      at = set.next
    } else if (character === "*") tokens.push("star")
    else if (character === "?") tokens.push(() => true)
    else {
      const literal = character === "\\" ? (pattern[at++] ?? "\\") : character
      tokens.push((given) => given === literal)
    }
  }
  return tokens
}

const matchesName = (tokens: ReadonlyArray<Token>, name: string): boolean =>
  matchesAll(
    tokens,
    [...name],
    (token) => token === "star",
    (token, character) => token !== "star" && token(character)
  )

/**
 * Compiles a pattern to a test of relative paths. A pattern without a slash is one of names, in any directory. Fails with 400 where the pattern is too
 * long.
 */
export const glob = (pattern: string): ((path: string) => boolean) => {
  if (pattern === "" || pattern.length > maximumPattern) {
    throw new FileError(400, `The pattern must have 1 to ${maximumPattern} characters.`)
  }
  if (!pattern.includes("/")) {
    const tokens = tokensOf(pattern)
    return (path) => matchesName(tokens, path.slice(path.lastIndexOf("/") + 1))
  }
  const segments = pattern
    .replace(/^\/+/, "")
    .split("/")
    .map((segment) => (segment === "**" ? "any" : tokensOf(segment)))
  return (path) =>
    matchesAll(
      segments,
      path.split("/"),
      (segment) => segment === "any",
      (segment, name) => segment !== "any" && matchesName(segment, name)
    )
}
