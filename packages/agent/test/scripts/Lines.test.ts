import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Lines } from "../../src/scripts/Lines.js"

const linesOf = (...chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const lines = new Lines((line) => found.push(line))
  for (const chunk of chunks) lines.add(chunk)
  lines.end()
  return found
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

describe("lines", () => {
  it("end with a line feed, with or without a carriage return, or with the output", () => {
    expect(linesOf(text("a\n\nb\r\nc"))).toStrictEqual(["a", "", "b", "c"])
  })

  it("are the same for any chunks", () => {
    const line = fc.string({ unit: "grapheme", maxLength: 40 }).filter((value) => !/[\n\r\0\uFEFF]/.test(value))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (expected, cuts) => {
        const bytes = text(expected.map((value) => `${value}\n`).join(""))
        const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
        const chunks = borders.slice(1).map((end, index) => bytes.slice(borders[index], end))
        expect(linesOf(...chunks)).toStrictEqual(expected)
      })
    )
  })

  it("show bytes that are not UTF-8, and NUL, as the replacement character", () => {
    expect(linesOf(Uint8Array.of(0x61, 0xff, 0x62, 0x00, 0x63, 0x0a, 0xe2, 0x82))).toStrictEqual(["a\uFFFDb\uFFFDc", "\uFFFD"])
  })

  it("are cut to the 1024 characters that the server stores, and buffer no more", () => {
    expect(linesOf(text("x".repeat(1024)))).toStrictEqual(["x".repeat(1024)])
    expect(linesOf(text("x".repeat(1025)))).toStrictEqual([`${"x".repeat(1023)}…`])
    expect(linesOf(text("😀".repeat(1024)))).toStrictEqual(["😀".repeat(1024)])
    expect(linesOf(...Array.from({ length: 1000 }, () => text("😀".repeat(1000))), text("\nnext"))).toStrictEqual([
      `${"😀".repeat(1023)}…`,
      "next"
    ])
  })
})
