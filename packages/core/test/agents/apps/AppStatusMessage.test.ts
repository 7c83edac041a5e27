import { cleanMessage, unquote } from "@atelier/core/agents"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { codePoint } from "../../../../../test/records/codePoint.js"

describe("a quoted text", () => {
  it.each([
    [String.raw`a\nb\t\"c\"\\`, 'a\nb\t"c"\\'],
    [String.raw`\x41\102é\U0001F600`, "AB\u00e9😀"],
    [String.raw`\xe2\x82\xac`, "€"],
    ["plain é", "plain é"],
    ["", ""]
  ])("%j stands for %j", (quoted, expected) => {
    expect(unquote(quoted)).toBe(expected)
  })

  it.each([
    String.raw`\q`,
    'a"b',
    "trailing\\",
    String.raw`\x4`,
    String.raw`\777`,
    String.raw`\ud800`,
    String.raw`\U00110000`,
    "two\nlines"
  ])("%j is none", (text) => {
    expect(unquote(text)).toBeUndefined()
  })
})

describe("a status message", () => {
  it.each([
    ["  a   b\n\tc ", "a b c"],
    ["<b>bold</b> and <img src=x onerror=alert(1)>text", "bold and text"],
    ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["\u001b[31mred\u001b[0m \u001b]0;title\u0007done", "red done"],
    [String.raw`line\nbreak`, "line break"],
    ["zero\u200bwidth\u0007", "zerowidth"],
    ["naïve — 日本 😀", "naïve — 日本 😀"]
  ])("%j is shown as %j", (message, expected) => {
    expect(cleanMessage(message)).toBe(expected)
  })

  it("has one space in place of unprintable characters between spaces", () => {
    expect(cleanMessage("¡\t\u0000\t!")).toBe("¡ !")
  })

  it("is one trimmed line of printable text for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (message) => {
        const cleaned = cleanMessage(message)
        expect(cleaned).toBe(cleaned.trim())
        expect(cleaned).not.toMatch(/\p{Cc}|\p{Cf}| {2}/u)
      })
    )
  })
})
