/** Names of users, organizations, templates and workspaces, and generated names. */
import { Effect, Random } from "effect"

const pattern = /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/

/** Words that paths of the dashboard use in the place of a name. */
const reserved: ReadonlySet<string> = new Set(["new", "create"])

/** The longest name, in characters. */
export const maximumLength = 32

/**
 * The rule a name breaks, or undefined: 1–32 of `a-zA-Z0-9`, or up to another length, and single dashes inside, none of the reserved
 * words. identity.md §8.1.
 */
export const violation = (name: string, longest: number = maximumLength): string | undefined => {
  if (name.length === 0) return "must not be empty"
  if (name.length > longest) return `must be at most ${longest} characters`
  if (!pattern.test(name)) return "must consist of letters, digits and single dashes between them"
  return reserved.has(name) ? `must not be "${name}"` : undefined
}

/** Whether a text can be a name. */
export const isName = (text: string): boolean => violation(text) === undefined

/** The rule a full or display name breaks, or undefined. `maximum` is in UTF-8 bytes. */
export const displayViolation = (name: string, maximum: number): string | undefined => {
  if (name !== name.trim()) return "must not begin or end with whitespace"
  if (name.includes("\0")) return "must not contain a NUL character"
  return new TextEncoder().encode(name).length > maximum ? `must be at most ${maximum} bytes` : undefined
}

const adjectives = (
  "agile amber bold brave bright brisk calm candid clever crisp daring deft eager early earnest exact fair fleet fond frank gentle " +
  "glad golden grand happy hardy honest humble jolly keen kind lively loyal lucid mellow merry modest neat nimble noble patient placid " +
  "polite proud quick quiet rapid ready serene sharp silent smart solid stable steady subtle sunny tidy vivid wise"
).split(" ")

const surnames = (
  "allen babbage backus bartik boole borg cantor cerf church clarke codd cray curie darwin dijkstra easley engelbart euclid euler " +
  "faraday fermat feynman floyd franklin gauss germain goedel hamilton hamming hoare hopper hypatia johnson kay keldysh kernighan knuth " +
  "lamarr lamport liskov lovelace mccarthy meitner milner naur newell noether perlis pike ritchie shannon simon sutherland tarjan " +
  "thompson turing vaughan wilkes wing wirth"
).split(" ")

const oneOf = (words: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(Random.nextIntBetween(0, words.length), (index) => words[index] ?? "")

/** A name like `steady_hopper42`, at most 32 characters: one of some 360,000. */
export const random = (separator: "_" | "-"): Effect.Effect<string> =>
  Effect.gen(function* () {
    const adjective = yield* oneOf(adjectives)
    const surname = yield* oneOf(surnames)
    const number = yield* Random.nextIntBetween(0, 100)
    return `${adjective}${separator}${surname}${String(number).padStart(2, "0")}`
  })
