import { compilePattern, matchesPattern } from "@atelier/core/platform"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const matches = (pattern: string, text: string): boolean | undefined | string => {
  const compiled = compilePattern(pattern)
  return typeof compiled === "string" ? compiled : matchesPattern(compiled, text)
}

/** A pattern, and where in a text its matches end that begin at certain places. */
interface Oracle {
  readonly source: string
  readonly ends: (text: string, starts: ReadonlySet<number>) => ReadonlySet<number>
}

/** One character or one assertion is JavaScript's to judge: it has nothing to go back to. */
const atomOf = (source: string): Oracle => {
  const expression = new RegExp(source, "uy")
  return {
    source,
    ends: (text, starts) =>
      new Set(
        [...starts].flatMap((start) => {
          expression.lastIndex = start
          const [matched] = expression.exec(text) ?? []
          return matched === undefined ? [] : [start + matched.length]
        })
      )
  }
}

const sequenceOf = (parts: ReadonlyArray<Oracle>): Oracle => ({
  source: parts.map(({ source }) => source).join(""),
  ends: (text, starts) => parts.reduce((reached, { ends }) => ends(text, reached), starts)
})

const eitherOf = (first: Oracle, second: Oracle): Oracle => ({
  source: `${first.source}|${second.source}`,
  ends: (text, starts) => new Set([...first.ends(text, starts), ...second.ends(text, starts)])
})

const groupOf = (opening: string, { ends, source }: Oracle): Oracle => ({ source: `${opening}${source})`, ends })

/** Every place that is reached is gone on from once, so the work is bounded by the length of the text. */
const repeatedOf = ({ ends, source }: Oracle, suffix: string, least: number, most: number): Oracle => ({
  source: source + suffix,
  ends: (text, starts) => {
    let last = starts
    for (let count = 0; count < least; count++) last = ends(text, last)
    const reached = new Set(last)
    for (let count = least; count < most && last.size > 0; count++) {
      last = new Set([...ends(text, last)].filter((end) => !reached.has(end)))
      for (const end of last) reached.add(end)
    }
    return reached
  }
})

const repetitions = [
  ["*", 0, Number.POSITIVE_INFINITY],
  ["+", 1, Number.POSITIVE_INFINITY],
  ["?", 0, 1],
  ["*?", 0, Number.POSITIVE_INFINITY],
  ["{2}", 2, 2],
  ["{1,2}", 1, 2],
  ["{2,}", 2, Number.POSITIVE_INFINITY]
] as const

/** Patterns that mean the same to JavaScript and to RE2. */
const { pattern } = fc.letrec<{ pattern: Oracle; sequence: Oracle; repeated: Oracle; group: Oracle; atom: Oracle }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: "small" },
    tie("sequence"),
    fc.tuple(tie("sequence"), tie("pattern")).map(([a, b]) => eitherOf(a, b))
  ),
  sequence: fc.array(tie("repeated"), { maxLength: 4 }).map(sequenceOf),
  repeated: fc.oneof(
    tie("atom"),
    tie("group"),
    fc.constantFrom("^", "$", "\\b").map(atomOf),
    fc
      .tuple(fc.oneof(tie("atom"), tie("group")), fc.constantFrom(...repetitions))
      .map(([repeated, [suffix, least, most]]) => repeatedOf(repeated, suffix, least, most))
  ),
  group: fc.tuple(fc.constantFrom("(", "(?:"), tie("pattern")).map(([opening, inner]) => groupOf(opening, inner)),
  atom: fc
    .constantFrom("a", "b", "A", "0", "_", ".", "\\.", "\\d", "\\w", "\\S", "\\n", "[ab]", "[^a]", "[a-c0-2]", "[^\\w]", "\\x41", "-")
    .map(atomOf)
}))

const texts = fc
  .array(fc.constantFrom("a", "b", "c", "A", "0", "1", "_", ".", "-", " ", "\n"), { maxLength: 12 })
  .map((parts) => parts.join(""))

describe("a pattern", () => {
  it("matches like JavaScript where both languages agree", () => {
    fc.assert(
      fc.property(pattern, texts, ({ ends, source }, text) => {
        const starts = new Set(Array.from({ length: text.length + 1 }, (_, start) => start))
        expect(matches(source, text), source).toBe(ends(text, starts).size > 0)
      }),
      { numRuns: 2_000 }
    )
  })

  it.each([
    ["^[a-z]+$", "abc", true],
    ["^[a-z]+$", "abc\n", false],
    ["(?i)^HELLO$", "heLLo", true],
    ["^(?i:h)ello$", "Hello", true],
    ["^(?i:h)ello$", "HELLO", false],
    ["(?i)[^a]", "A", false],
    ["(?s)a.b", "a\nb", true],
    ["a.b", "a\nb", false],
    ["(?m)^b$", "a\nb\nc", true],
    ["\\Ab\\z", "a\nb", false],
    ["^[[:alpha:]]+$", "Ada", true],
    ["^[[:^digit:]]+$", "a1", false],
    ["^\\p{Greek}+$", "αβγ", true],
    ["^\\p{Lu}\\P{Lu}+$", "Ünder", true],
    ["^\\pL$", "ß", true],
    ["^\\Qa.b\\E$", "a.b", true],
    ["^\\Qa.b\\E$", "axb", false],
    ["^(?P<year>\\d{4})-(?<month>\\d{2})$", "2026-11", true],
    ["^\\x{1F600}$", "😀", true],
    ["^.$", "😀", true],
    ["^[]a]$", "]", true],
    ["^[a\\-z]$", "-", true],
    ["^[a-]$", "-", true],
    ["\\bfoo\\b", "a foo.", true],
    ["\\Boo\\b", "foo", true],
    ["^$", "", true],
    ["", "anything", true],
    ["^a{0}$", "", true]
  ])("%s tells of %j: %s", (source, text, expected) => {
    expect(matches(source, text)).toBe(expected)
  })

  it.each([
    "(",
    ")",
    "a)",
    "[a",
    "[z-a]",
    "a**",
    "*a",
    "a{2,1}",
    "a{1001}",
    "\\",
    "\\8",
    "(?=a)",
    "(?<!a)b",
    "(a)\\1",
    "\\p{Klingon}",
    "[[:nothing:]]",
    "\\x{110000}"
  ])("%s is refused with a reason", (source) => {
    expect(compilePattern(source)).toBeTypeOf("string")
  })

  it("is refused if it expands too far, however short it is written", () => {
    for (const source of [
      "((a{1000}){1000}){1000}",
      "(?:(?:(?:){1000}){1000}){1000}",
      "(".repeat(2_000) + ")".repeat(2_000),
      "a".repeat(5_000)
    ]) {
      expect(compilePattern(source)).toBeTypeOf("string")
    }
  })

  it("is decided for a value that backtracking would never finish", () => {
    expect(matches("^(a+)+$", `${"a".repeat(5_000)}b`)).toBe(false)
    expect(matches("^(a|aa)+$", `${"a".repeat(5_000)}b`)).toBe(false)
  })

  it("does not look at a value that is too long for it", () => {
    expect(matches("^(a?){500}$", "a".repeat(100_000))).toBeUndefined()
  })
})
