import { parseSecretsFile, SecretsYaml } from "@atelier/core/identity"
import { YamlSecrets } from "@atelier/node"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { stringify } from "yaml"

const reader = Effect.runSync(Effect.provide(SecretsYaml, YamlSecrets.layer))
const yaml = (text: string) => parseSecretsFile("yaml", text, reader)

describe("an object of texts in YAML", () => {
  it("is read with its quotes, blocks and comments", () => {
    const text = `--- \n# c\nplain: some text # c\n"dq": "a\\n\\u00fc\\\\u0041"\n'it''s': 'x''y' # c\nurl: http://a#b\nempty: ""\nkey: |\n  -----BEGIN-----\n    in\n\n  end\nfolded: >-\n  a\n  b\n\n  c\n`
    expect(yaml(text)).toStrictEqual(
      Either.right([
        ["plain", "some text"],
        ["dq", "a\nü\\u0041"],
        ["it's", "x'y"],
        ["url", "http://a#b"],
        ["empty", ""],
        ["key", "-----BEGIN-----\n  in\n\nend\n"],
        ["folded", "a b\nc"]
      ])
    )
    expect(yaml('{"a": "b"}')).toStrictEqual(Either.right([["a", "b"]]))
  })

  it("is refused where a value is not a text", () => {
    for (const value of [
      "",
      "1",
      "1.5",
      "true",
      "null",
      "~",
      "0x1f",
      "2020-01-02",
      "[a]",
      "{a: b}",
      "&a b",
      "*a",
      "!!str 1",
      "- a",
      "\n  a: b",
      "a: b",
      "'a",
      "@a",
      "`a"
    ]) {
      expect(Either.isLeft(yaml(`k: ${value}\n`)), value).toBe(true)
    }
    for (const text of ["- a", "a", "? a\n: b", "<<: a", "%YAML 1.2", "a: b\n---\nc: d", "a: b\n\tc"]) {
      expect(Either.isLeft(yaml(text)), text).toBe(true)
    }
  })

  it("is read as it was written, in quotes of either kind, on one line or several", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), { minKeys: 1, maxKeys: 5, noNullPrototype: true }),
        fc.constantFrom("QUOTE_DOUBLE" as const, "QUOTE_SINGLE" as const),
        fc.constantFrom(0, 20, 80),
        (object, defaultStringType, lineWidth) => {
          const text = stringify(object, { defaultStringType, defaultKeyType: "QUOTE_DOUBLE", lineWidth, simpleKeys: true })
          expect(yaml(text)).toStrictEqual(Either.right(Object.entries(object)))
        }
      )
    )
  })

  it("has no anchors, aliases, tags, merges, directives, lists or objects", () => {
    const bomb = `a: &a x\n${Array.from({ length: 20 }, (_, index) => `k${index}: &k${index} [*a, *a]`).join("\n")}`
    for (const [text, line] of [
      [bomb, 1],
      ["a: b\nc: *hunter2", 2],
      ["a: b\nc: !hunter2 d", 2],
      ["a: b\nc: !!binary aHVudGVyMg==", 2],
      ["a: b\n<<: {hunter2: c}", 2],
      ["a: b\n<<: hunter2", 2],
      ["%TAG ! tag:hunter2,2000:\n---\na: b", 1],
      ["a: b\nc:\n  - hunter2", 3],
      ["a:\n  hunter2: c", 1],
      ["a: b\nc: d\n'a': hunter2", 3],
      ["a: b\n? hunter2\n: c", 2],
      ["{a: {hunter2: c}}", 1],
      ["a: b\nc: 'hunter2", 2]
    ] as const) {
      const read = yaml(text)
      expect(read, text).toMatchObject({ _tag: "Left", left: expect.stringMatching(new RegExp(`^line ${line} `)) })
      expect(JSON.stringify(read)).not.toContain("hunter2")
    }
  })

  it("is read or refused in time proportional to its length", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: x`).join("\n")
    expect(yaml(lines(50))).toMatchObject({ _tag: "Right" })
    expect(yaml(lines(51))).toStrictEqual(Either.left("must hold 1 to 50 entries"))
    const nested = Array.from({ length: 1000 }, (_, index) => `${" ".repeat(index)}k:`).join("\n")
    expect(Either.isLeft(yaml(nested))).toBe(true)
    for (const text of [`${"# x\n".repeat(1500)}a: b`, `a: ${"x\n ".repeat(20_000)}`, `a: |\n${"  x\n".repeat(20_000)}`]) {
      expect(yaml(text)).toMatchObject({ _tag: "Right" })
    }
  })

  const units = [
    " ",
    "\n",
    "a: |\n",
    '"',
    "'",
    "''",
    "\\",
    '\\"',
    "\\q",
    "a ",
    " #",
    "#\n",
    ": ",
    "{",
    "[",
    "- ",
    "? ",
    "&a ",
    "!",
    "\t",
    "\t\n",
    "x\n ",
    "\u2028",
    "\r",
    "---\n",
    "...\n",
    "'\n",
    "x:\n"
  ]

  it("is parsed or refused for hostile input", () => {
    const length = 128 * 1024
    // Time that grows with the square of the length would exceed any limit of a test
    for (const unit of units) {
      for (const prefix of ["", "a: ", "a: '", 'a: "', "a: |\n ", "a: >\n "]) {
        yaml(prefix + unit.repeat((length - prefix.length) / unit.length))
      }
    }
  })
})
