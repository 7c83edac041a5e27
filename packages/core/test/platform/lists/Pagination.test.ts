import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Bound, maximum } from "../../../src/platform/lists/Pagination.js"

const read = Schema.decodeUnknownEither(Bound)

describe("a bound of a page", () => {
  it.each([
    ["", 0],
    ["0", 0],
    ["25", 25],
    ["+25", 25],
    ["007", 7],
    [String(maximum), maximum]
  ])("is written %j", (text, value) => expect(read(text)).toEqual(Either.right(value)))

  it.each([
    "0x1",
    "0b1",
    "0o1",
    "1e0",
    "1e3",
    ".1e1",
    "1.0",
    "1.",
    "\n1",
    "1\n",
    " 1",
    "1 ",
    "1_000",
    "１",
    "+",
    "-",
    "-1",
    "Infinity",
    "NaN",
    String(maximum + 1)
  ])("is not written %j", (text) => expect(Either.isLeft(read(text))).toBe(true))
})
