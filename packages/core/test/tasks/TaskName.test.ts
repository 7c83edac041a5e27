import { Effect } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Name } from "../../src/platform/index.js"
import { displayNameOf, generatedNames, stemOf } from "../../src/tasks/index.js"

describe("the name of a task", () => {
  it.each([
    ["write a poem", "write-a-poem"],
    ["Fix the LOGIN page, please!\nand more of the same text", "fix-the-login-page-please"],
    ["one\ttwo\r\nthree", "one-two-three"],
    ["a — b", "a-b"],
    ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    ["exactly twenty-seven chars!", "exactly-twenty-seven-chars"],
    ["日本語", ""],
    ["", ""]
  ])("begins with the first words of %j", (prompt, stem) => {
    expect(stemOf(prompt)).toBe(stem)
  })

  it("is valid and has a suffix of 4 hexadecimal digits for every prompt", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (prompt) => {
        const { display_name, name } = Effect.runSync(generatedNames(prompt))
        expect(Name.violation(name)).toBeUndefined()
        expect(name).toMatch(/-[0-9a-f]{4}$/)
        expect(display_name).not.toBe("")
      })
    )
  })
})

describe("the display name of a task", () => {
  it.each([
    ["write a poem", "Write a poem"],
    [" \n do\tit ", "Do it"],
    [
      "Fix the LOGIN page, please!\nand more of the same text which is long",
      "Fix the LOGIN page, please! and more of the same text which is…"
    ],
    ["x".repeat(64), `X${"x".repeat(63)}`],
    ["x".repeat(65), `X${"x".repeat(62)}…`],
    ["", ""]
  ])("of the prompt %j is its beginning", (prompt, name) => {
    expect(displayNameOf(prompt)).toBe(name)
  })
})
