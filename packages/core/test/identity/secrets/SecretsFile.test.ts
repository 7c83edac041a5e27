import { parseSecretsFile } from "@atelier/core/identity"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

/** A reader that finds these keys. */
const finding = (...keys: ReadonlyArray<string>) => ({ read: () => Either.right(keys.map((key) => [key, "x"] as const)) })

const env = (text: string) => parseSecretsFile("env", text, finding())
const json = (text: string) => parseSecretsFile("json", text, finding())
const yaml = (...keys: ReadonlyArray<string>) => parseSecretsFile("yaml", "", finding(...keys))

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

  it("are refused by line number and without their text if malformed", () => {
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
  it("is parsed in order", () => {
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

describe("a text of secrets", () => {
  it("has 1 to 50 entries of different keys", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `K${index}=x`).join("\n")
    expect(Either.isRight(env(lines(50)))).toBe(true)
    expect(env(lines(51))).toStrictEqual(Either.left("must hold 1 to 50 entries"))
    for (const none of [env("# nothing\n"), json("{}"), yaml()]) expect(none).toStrictEqual(Either.left("must hold 1 to 50 entries"))
    expect(env("A=1\nB=2\nA=3")).toStrictEqual(Either.left("entry 3 has the key of another one"))
    expect(yaml("a", "b", "a")).toStrictEqual(Either.left("entry 3 has the key of another one"))
    expect(yaml("a", "b")).toMatchObject({ _tag: "Right" })
  })

  it("is parsed or refused for hostile input", () => {
    const length = 256 * 1024
    // Time that grows with the square of the length would exceed any limit of a test
    for (const unit of [" ", "\n", "a: |\n", "A=1\n", '"', "'", "\\", "a ", "#", ": ", "a: 'b' \n", "{", '{"a":', "\t#"]) {
      const text = unit.repeat(length / unit.length)
      for (const read of [env, json]) {
        for (const prefix of ["", "a: ", "a: '", 'a: "', 'A="', '{"a":"', "a: |\n "]) read(prefix + text)
      }
    }
  })

  it("keeps characters that end a line elsewhere", () => {
    expect(env("A=b\u2028c\nB='d\u2029'\nC=\"\\n\u2028\"")).toStrictEqual(
      Either.right([
        ["A", "b\u2028c"],
        ["B", "d\u2029"],
        ["C", "\n\u2028"]
      ])
    )
  })
})
