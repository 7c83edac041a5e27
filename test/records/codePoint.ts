/** Any character of Unicode, for `fc.string({ unit: codePoint })`: the library's own unit keeps a table of them all, made in a second and a half. */
import * as fc from "fast-check"

/** Halves of surrogate pairs, which are no characters. */
const surrogates = { first: 0xd800, count: 0x800 }

export const codePoint: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count))
