import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { maximumDepth, parseFirst, stringify, Unreadable } from "../../../src/server/codec/json.js"

describe("reading", () => {
  it("finds what JSON.parse does, with any text behind it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("", " ", "\n{}", " x", "]", "}", '"'), (value, rest) => {
        const text = JSON.stringify(value)
        // A word or number ends where something else begins: only then can something follow it
        const separated = /[\]}"]$/.test(text) ? text + rest : `${text} ${rest}`
        expect(parseFirst(separated)).toEqual(JSON.parse(text))
      })
    )
  })

  it("counts no brackets and commas within texts", () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('"', "\\", "[", ",", "a"), minLength: 20 }), { minLength: 50, maxLength: 100 })
    fc.assert(
      fc.property(texts, (list) => {
        expect(parseFirst(JSON.stringify(list))).toStrictEqual(list)
      })
    )
    expect(parseFirst(`["${"[,".repeat(10_000)}"]`)).toStrictEqual(["[,".repeat(10_000)])
  })

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "1", " ", "a") })),
        (text) => {
          parseFirst(text)
        }
      )
    )
  })

  it("reports errors without showing the text", () => {
    const reason = (text: string) => {
      const read = parseFirst(text)
      return read instanceof Unreadable ? read.reason : undefined
    }
    for (const text of ['{"password":"hunter2"x', '{"password":"hunter2\\x"}', "hunter2", '["hunter2" "b"]', '{"password":"hunter2']) {
      expect(reason(text)).toMatch(/^(?!.*hunter2)./)
    }
  })

  it("replaces halves of surrogate pairs only", () => {
    expect(parseFirst(String.raw`{"\ud800":["\uDC00\ud83d\ude00\ud83d","\\ud800","\\\udfff"]}`)).toEqual({
      "\ufffd": ["\ufffd\u{1f600}\ufffd", "\\ud800", "\\\ufffd"]
    })
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("\ud83d", "\ude00", "\\", "u", "d", '"', "a") }), (text) => {
        expect(parseFirst(JSON.stringify(text))).toBe(
          text.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (half) => (half.length === 2 ? half : "\ufffd"))
        )
      })
    )
  })

  it("refuses to nest without end", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    expect(parseFirst(nested(maximumDepth))).not.toBeInstanceOf(Unreadable)
    expect(parseFirst(nested(maximumDepth + 1))).toBeInstanceOf(Unreadable)
    expect(parseFirst(JSON.stringify("[".repeat(1000)))).toBe("[".repeat(1000))
  })
})

describe("writing", () => {
  it("is safe inside a page, one line, and the same document", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = stringify(value)
        expect(text).toMatch(/^[^<>&\u2028\u2029\n]*\n$/)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      })
    )
  })

  it("writes nothing as null", () => expect(stringify(undefined)).toBe("null\n"))
})
