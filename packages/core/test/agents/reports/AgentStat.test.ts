import { normalizeCounts } from "@atelier/core/agents"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"

describe("session counts", () => {
  it("are added up by kind, without those that count nothing", () => {
    expect(
      normalizeCounts([
        ["SSH", 1],
        ["ssh ", 2],
        ["vscode", 0],
        ["jetbrains", -1],
        ["", 3]
      ])
    ).toStrictEqual({ ssh: 3, unknown: 3 })
  })

  it("name the known kinds and the busiest others, and add up the rest", () => {
    const many = Array.from({ length: 100 }, (_, index) => [`kind${index}`, index + 1] as const)
    const counts = normalizeCounts([...many, ["vscode", 1]])
    expect(Object.keys(counts)).toHaveLength(61)
    expect(counts["vscode"]).toBe(1)
    expect(counts["kind99"]).toBe(100)
    expect(counts["kind0"]).toBeUndefined()
    expect(counts["unknown"]).toBe((41 * 42) / 2)
  })

  it("keep all counts and at most 64 kinds for any report", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.integer({ min: -5, max: 1000 })), { maxLength: 200 }), (entries) => {
        const counts = normalizeCounts(entries)
        const sum = (values: ReadonlyArray<number>) => values.filter((value) => value > 0).reduce((a, b) => a + b, 0)
        expect(sum(Object.values(counts))).toBe(sum(entries.map(([, count]) => count)))
        expect(Object.keys(counts).length).toBeLessThanOrEqual(64)
      })
    )
  })
})
