import { fingerprint } from "../../../src/platform/texts/fingerprint.js"
import { describe, expect, it } from "vitest"

describe("fingerprints", () => {
  it("are equal for equal texts, and differ for those that are much alike", () => {
    const texts = Array.from(
      { length: 20_000 },
      (_, index) => `{"name":"${"a".repeat(index % 7)}","count":${index},"text":"ü${index % 3}"}`
    )
    expect(new Set(texts.map(fingerprint)).size).toBe(texts.length)
    expect(texts.map(fingerprint)).toStrictEqual(texts.map(fingerprint))
    expect(fingerprint("ab")).not.toBe(fingerprint("ba"))
  })

  it("are whole numbers that a double tells apart", () => {
    for (const text of ["", "a", "\u0000", "\u0000\u0000", "a longer text"]) expect(Number.isSafeInteger(fingerprint(text))).toBe(true)
  })
})
