import { describe, expect, it } from "@effect/vitest"
import { Remembered } from "@atelier/core/platform"

const object = (text = "") => ({ text })

describe("remembered results", () => {
  it("are the same object for the same inputs", () => {
    const results = Remembered.make<object>(10_000)
    const [first, second] = [object(), object()]
    const kept = results.get("a", [1, first, [first, second]], object)
    expect(results.get("a", [1, first, [first, second]], object)).toBe(kept)
  })

  it.each([
    ["another value", [2, ["x", "y"]]],
    ["an item that differs", [1, ["x", "z"]]],
    ["fewer items", [1, ["x"]]],
    ["more items", [1, ["x", "y", "z"]]],
    ["a text in the place of a list", [1, "x"]]
  ])("are made anew for %s", (_, inputs) => {
    const results = Remembered.make<object>(10_000)
    const kept = results.get("a", [1, ["x", "y"]], object)
    const made = results.get("a", inputs, object)
    expect(made).not.toBe(kept)
    expect(results.get("a", inputs, object)).toBe(made)
  })

  it("of one key are not those of another", () => {
    const results = Remembered.make<object>(10_000)
    expect(results.get("a", [1], object)).not.toBe(results.get("b", [1], object))
  })

  it("make room for others by their size, the least recently used first", () => {
    const results = Remembered.make<object>(10_000)
    const of = (key: number, size: number) => results.get(String(key), [], () => object("x".repeat(size)))
    const used = of(0, 400)
    for (let key = 1; key < 100; key++) {
      const kept = of(key, 400)
      expect(of(key, 400)).toBe(kept)
      expect(of(0, 400)).toBe(used)
    }
    let wasMade = false
    results.get("1", [], () => {
      wasMade = true
      return object()
    })
    expect(wasMade).toBe(true)
  })

  it("weigh what their data is named, and not what their columns are named", () => {
    const results = Remembered.make<object>(10_000)
    const named = (length: number) => () => Object.fromEntries([["n".repeat(length), ""]])
    const first = results.get("a", [], named(1_000))
    expect(results.get("a", [], named(1_000))).not.toBe(first)
    const columns = results.get("b", [], named(40))
    for (let key = 0; key < 100; key++) results.get(String(key), [], named(40))
    expect(results.get("b", [], named(40))).toBe(columns)
  })

  it("that would take a large part of the room are not kept", () => {
    const results = Remembered.make<object>(10_000)
    const large = () => ({ parts: Array.from({ length: 10 }, () => object("x".repeat(100))) })
    const first = results.get("a", [], large)
    expect(results.get("a", [], large)).not.toBe(first)
  })
})
