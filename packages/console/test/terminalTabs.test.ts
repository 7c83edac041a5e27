import { describe, expect, it } from "vitest"
import {
  added,
  beside,
  closed,
  maximumTabs,
  moved,
  noTabs,
  readTabs,
  renamed,
  renewed,
  reopened,
  shownText
} from "../src/screens/terminal/tabs.js"

const ids = (count: number) => Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`)
const three = ids(3).reduce((tabs, id) => added(tabs, { agent: "main" }, id), noTabs)
const [first = "", second = "", third = ""] = ids(3)
const order = ({ all }: typeof noTabs) => all.map(({ number }) => number)

describe("the tabs of terminals", () => {
  it("get the smallest free number, and show the newest", () => {
    expect([order(three), three.shown]).toStrictEqual([[1, 2, 3], third])
    expect(order(added(closed(three, second), { agent: "main" }))).toStrictEqual([1, 3, 2])
    const full = Array.from({ length: maximumTabs + 2 }).reduce<typeof noTabs>((tabs) => added(tabs, { agent: "main" }), noTabs)
    expect(full.all.length).toBe(maximumTabs)
  })

  it("show the neighbour of one that is closed, and bring it back", () => {
    const left = closed({ ...three, shown: first }, first)
    expect(left.shown).toBe(second)
    expect(closed(three, third).shown).toBe(second)
    expect(closed(three, first).shown).toBe(third)
    const tab = three.all[0]
    if (tab === undefined) throw new Error("no tab")
    expect(reopened(left, tab, 0)).toStrictEqual({ all: [{ ...tab, isKnown: true }, ...left.all], shown: first })
  })

  it("move within the ends, and lead around them", () => {
    expect(order(moved(three, first, 1))).toStrictEqual([2, 1, 3])
    expect(order(moved(three, third, 5))).toStrictEqual([1, 2, 3])
    expect(beside(three, 1)).toBe(first)
    expect(beside({ ...three, shown: first }, -1)).toBe(third)
  })

  it("keep names without characters that cannot be seen, and lose empty ones", () => {
    const named = renamed(three, first, " \u202Eevil\u0007 ")
    expect(named.all[0]?.name).toBe("evil")
    expect(renamed(named, first, "").all[0]).toStrictEqual(three.all[0])
    expect(shownText("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`)
  })

  it("come back as they were, with their shells", () => {
    const back = readTabs(JSON.stringify(renewed(three, second, first.replace(/0$/, "9"))))
    expect(back.all.map(({ isKnown }) => isKnown)).toStrictEqual([true, true, true])
    expect(back.shown).toBe(third)
    expect(readTabs(JSON.stringify({ all: [{ id: "x", agent: "main", number: 1 }, 7], shown: "x" }))).toStrictEqual(noTabs)
    expect(readTabs("{")).toStrictEqual(noTabs)
  })
})
