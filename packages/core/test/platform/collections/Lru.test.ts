import { describe, expect, it } from "@effect/vitest"
import { Lru } from "@atelier/core/platform"
import * as fc from "fast-check"

describe("a map of bounded size", () => {
  it("keeps the entries used last, and forgets others", () => {
    const entries = Lru.make<number, string>(3)
    for (let key = 0; key < 3; key++) entries.set(key, `value ${key}`)
    for (let key = 10; key < 15; key++) {
      entries.set(key, `value ${key}`)
      expect(entries.get(0)).toBe("value 0")
    }
    expect([1, 2].map(entries.get)).toStrictEqual([undefined, undefined])
  })

  it("answers the last value of a key", () => {
    const entries = Lru.make<string, number>(1)
    entries.set("a", 1)
    entries.set("b", 2)
    entries.set("a", 3)
    expect(entries.get("a")).toBe(3)
  })

  it("keeps fewer entries that weigh more", () => {
    const entries = Lru.make<string, number>(1_000, { maximum: 10_000, weightOf: ({ length }) => length })
    const keyOf = (number: number, length: number) => String(number).padStart(length, "0")
    const keptOf = (length: number) => {
      for (let number = 0; number < 500; number++) entries.set(keyOf(number, length), number)
      return Array.from({ length: 500 }, (_, number) => entries.get(keyOf(number, length))).filter((value) => value !== undefined)
    }
    expect(keptOf(10)).toHaveLength(500)
    const heavy = keptOf(1_000)
    expect(heavy.length).toBeGreaterThanOrEqual(10)
    expect(heavy.length).toBeLessThanOrEqual(21)
  })

  it("keeps at least as many as it is made for, and at most twice as many", () => {
    const keys = fc.array(fc.nat(20), { maxLength: 100 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), keys, (capacity, used) => {
        const entries = Lru.make<number, number>(capacity)
        for (const key of used) if (entries.get(key) === undefined) entries.set(key, key)
        const last = new Set<number>()
        for (const key of used.toReversed()) if (last.size < capacity) last.add(key)
        for (const key of last) expect(entries.get(key)).toBe(key)
        expect(Array.from({ length: 21 }, (_, key) => entries.get(key)).filter((value) => value !== undefined).length).toBeLessThanOrEqual(
          2 * capacity
        )
      })
    )
  })
})
