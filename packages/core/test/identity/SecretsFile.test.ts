import { parseSecretsFile } from "@atelier/core/identity"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"

const env = (text: string) => parseSecretsFile("env", text)
const json = (text: string) => parseSecretsFile("json", text)
const yaml = (text: string) => parseSecretsFile("yaml", text)

const texts = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "grapheme" }), { minKeys: 1, maxKeys: 5, noNullPrototype: true })

describe("lines of an environment", () => {
  it("are read with their quotes, escapes and comments", () => {
    const text =
      '\uFEFF# comment\r\n\nA=1\n export B = two words # kept \nC=\'a\\n"b"\'\r\nD="x\\n\\t\\r\\\\\\"\'y\'"\nE=\nF==a=b\nG=$A ${B}\nH=""\n'
    expect(env(text)).toStrictEqual(
      Either.right([
        ["A", "1"],
        ["B", "two words # kept"],
        ["C", 'a\\n"b"'],
        ["D", "x\n\t\r\\\"'y'"],
        ["E", ""],
        ["F", "=a=b"],
        ["G", "$A ${B}"],
        ["H", ""]
      ])
    )
  })

  it("are refused where they are none, by their number and without their text", () => {
    for (const line of [
      "hunter2",
      "=hunter2",
      "A B=hunter2",
      "A='hunter2",
      "A='hunter2' # x",
      'A="hunter2',
      'A="hunter2\\q"',
      "A='hun'ter2'"
    ]) {
      const refused = env(`X=1\n${line}`)
      expect(refused, line).toMatchObject({ _tag: "Left", left: expect.stringMatching(/^line 2 /) })
      expect(JSON.stringify(refused)).not.toContain("hunter2")
    }
  })
})

describe("an object of texts in JSON", () => {
  it("is read as it is written", () => {
    expect(json(' { "a" : "\\u00fc\\"}" , "__proto__":"x" } ')).toStrictEqual(
      Either.right([
        ["a", 'ü"}'],
        ["__proto__", "x"]
      ])
    )
    fc.assert(
      fc.property(texts, (object) => {
        expect(json(JSON.stringify(object))).toStrictEqual(Either.right(Object.entries(object)))
      })
    )
  })

  it("is refused with anything else in it", () => {
    for (const text of [
      "",
      "[]",
      '"a"',
      "{",
      '{"a":1}',
      '{"a":null}',
      '{"a":{}}',
      '{"a":["x"]}',
      '{"a":"b",}',
      '{"a":"b"}x',
      '{"a":"\\q"}',
      "{a:'b'}"
    ]) {
      expect(Either.isLeft(json(text)), text).toBe(true)
    }
    expect(Either.isLeft(json('{"a":"x","\\u0061":"y"}'))).toBe(true)
  })
})

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

  it("is refused where a value is no text", () => {
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
      "a\n  b",
      "|2\n   a",
      "a: b",
      "'a",
      '"a\n  b"',
      "@a",
      "`a"
    ]) {
      expect(Either.isLeft(yaml(`k: ${value}\n`)), value).toBe(true)
    }
    for (const text of ["- a", "a", " a: b", "? a\n: b", "<<: a", "%YAML 1.2", "a: b\n---\nc: d", "a: b\n\tc"]) {
      expect(Either.isLeft(yaml(text)), text).toBe(true)
    }
  })

  it("is never taken for another than a full reader takes it for", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      ":",
      " ",
      "\n",
      "  ",
      "'",
      '"',
      "#",
      "|",
      ">",
      "-",
      "+",
      "\\n",
      "1",
      "k: ",
      "\nx: ",
      "\n  ",
      "null",
      ","
    )
    const agrees = (text: string): void => {
      const read = yaml(text)
      if (Either.isLeft(read)) return
      expect(Object.entries(parse(text, { logLevel: "error" }))).toStrictEqual(read.right)
    }
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => agrees(`k: ${pieces.join("")}`)),
      { numRuns: 5000 }
    )
  })

  it("is read as the usual writer writes it, with its values in double quotes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Z]{2,8}$/), fc.string(), { minKeys: 1, maxKeys: 5 }), (object) => {
        const text = stringify(object, {
          defaultStringType: "QUOTE_DOUBLE",
          defaultKeyType: "PLAIN",
          lineWidth: 0,
          doubleQuotedMinMultiLineLength: 1e9
        })
        expect(yaml(text)).toStrictEqual(Either.right(Object.entries(object)))
      })
    )
  })
})

describe("a text of secrets", () => {
  it("has 1 to 50 entries of different keys", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `K${index}=x`).join("\n")
    expect(Either.isRight(env(lines(50)))).toBe(true)
    expect(env(lines(51))).toStrictEqual(Either.left("must hold 1 to 50 entries"))
    for (const read of [env, json, yaml]) expect(Either.isLeft(read(read === json ? "{}" : "# nothing\n"))).toBe(true)
    expect(env("A=1\nB=2\nA=3")).toStrictEqual(Either.left("entry 3 has the key of another one"))
    expect(Either.isLeft(yaml("a: b\n'a': c"))).toBe(true)
  })

  it("is refused quickly, however it is made", () => {
    const length = 256 * 1024
    const begun = performance.now()
    for (const unit of [" ", "\n", "a: |\n", "A=1\n", '"', "'", "\\", "a ", "#", ": ", "a: 'b' \n", "{", '{"a":', "\t#"]) {
      const text = unit.repeat(length / unit.length)
      for (const read of [env, json, yaml]) {
        for (const prefix of ["", "a: ", "a: '", 'a: "', 'A="', '{"a":"', "a: |\n "]) read(prefix + text)
      }
    }
    expect(performance.now() - begun).toBeLessThan(20_000)
  })

  it("is read quickly where other characters than line breaks end a line elsewhere", () => {
    const begun = performance.now()
    for (const [begin, unit] of [
      ["a: b", " #"],
      ["a: '", "'' #"],
      ['a: "', '\\" #'],
      ["a: '", "' #"]
    ] as const) {
      yaml(`${begin}${unit.repeat(500_000 / unit.length)}\u2028x`)
    }
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(env("A=b\u2028c\nB='d\u2029'\nC=\"\\n\u2028\"")).toStrictEqual(
      Either.right([
        ["A", "b\u2028c"],
        ["B", "d\u2029"],
        ["C", "\n\u2028"]
      ])
    )
    expect(yaml("a: b # c\u2028d")).toStrictEqual(Either.right([["a", "b"]]))
  })
})
