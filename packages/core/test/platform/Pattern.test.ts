import { compilePattern, matchesPattern } from "@atelier/core/platform"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const matches = (pattern: string, text: string): boolean | undefined | string => {
  const compiled = compilePattern(pattern)
  return typeof compiled === "string" ? compiled : matchesPattern(compiled, text)
}

/** Patterns that mean the same to JavaScript and to RE2. */
const { pattern } = fc.letrec<{ pattern: string; sequence: string; repeated: string; atom: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: "small" },
    tie("sequence"),
    fc.tuple(tie("sequence"), tie("pattern")).map(([a, b]) => `${a}|${b}`)
  ),
  sequence: fc.array(tie("repeated"), { maxLength: 4 }).map((parts) => parts.join("")),
  repeated: fc
    .tuple(tie("atom"), fc.constantFrom("", "", "", "*", "+", "?", "*?", "{2}", "{1,2}", "{2,}"))
    .map(([atom, repetition]) => (/^[\^$]|^\\b/.test(atom) ? atom : atom + repetition)),
  atom: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", "b", "A", "0", "_", ".", "\\.", "\\d", "\\w", "\\S", "\\n", "[ab]", "[^a]", "[a-c0-2]", "[^\\w]"),
    fc.constantFrom("^", "$", "\\b", "\\x41", "-"),
    tie("pattern").map((inner) => `(?:${inner})`),
    tie("pattern").map((inner) => `(${inner})`)
  )
}))

/** Short: JavaScript takes exponential time for some of the patterns. */
const texts = fc
  .array(fc.constantFrom("a", "b", "c", "A", "0", "1", "_", ".", "-", " ", "\n"), { maxLength: 6 })
  .map((parts) => parts.join(""))

describe("a pattern", () => {
  it("matches what JavaScript matches, where both languages agree", () => {
    fc.assert(
      fc.property(pattern, texts, (source, text) => {
        expect(matches(source, text)).toBe(new RegExp(source, "u").test(text))
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

  it("is refused when it is too large, however small it is written", () => {
    for (const source of [
      "((a{1000}){1000}){1000}",
      "(?:(?:(?:){1000}){1000}){1000}",
      "(".repeat(200) + ")".repeat(200),
      "a".repeat(5_000)
    ]) {
      const start = performance.now()
      expect(compilePattern(source)).toBeTypeOf("string")
      expect(performance.now() - start).toBeLessThan(500)
    }
  })

  it("takes no more time for a value that backtracking would never finish", () => {
    const start = performance.now()
    expect(matches("^(a+)+$", `${"a".repeat(5_000)}b`)).toBe(false)
    expect(matches("^(a|aa)+$", `${"a".repeat(5_000)}b`)).toBe(false)
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it("does not look at a value that is too long for it", () => {
    expect(matches("^(a?){500}$", "a".repeat(100_000))).toBeUndefined()
  })
})
