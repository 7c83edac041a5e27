import { maximumValueBytes, storedValue } from "@atelier/core/agents"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { codePoint } from "../../../../../test/records/codePoint.js"

const bytes = (text: string): number => new TextEncoder().encode(text).length

describe("a metadata value", () => {
  it("is trimmed together with its error", () => {
    expect(storedValue(" 42\n", " none ")).toStrictEqual({ value: "42", error: "none" })
  })

  it("is cut where it is too long, and its error says so", () => {
    const { error, value } = storedValue("v".repeat(3000), "")
    expect(value).toBe("v".repeat(2048))
    expect(error).toContain("3000")
    expect(error).toContain("2048")
  })

  it("has an error that says so where that is too long itself", () => {
    const { error, value } = storedValue("v", "e".repeat(2049))
    expect(value).toBe("v")
    expect(error).toContain("2049")
  })

  it("consists of whole characters", () => {
    expect(storedValue("€".repeat(1000), "").value).toBe("€".repeat(682))
    fc.assert(
      fc.property(fc.string({ unit: codePoint, minLength: 600, maxLength: 1500 }), (text) => {
        const { error, value } = storedValue(text, text)
        expect(Math.max(bytes(value), bytes(error))).toBeLessThanOrEqual(maximumValueBytes)
        expect(value).not.toMatch(/\p{Surrogate}/u)
      })
    )
  })
})
