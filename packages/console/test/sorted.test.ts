/** The order of lists that the page holds whole. */
import { describe, expect, it } from "vitest"
import { byNumber, byText, byTime, sortedRows } from "../src/ui/lists/sorted.js"

interface Row {
  readonly name: string
  readonly size: number | null
  readonly at: string
}

const rows: ReadonlyArray<Row> = [
  { name: "b10", size: 2, at: "2026-01-02T00:00:00Z" },
  { name: "B9", size: null, at: "2026-01-01T12:00:00+10:00" },
  { name: "a", size: 1, at: "2026-01-03T00:00:00Z" },
  { name: "c", size: 2, at: "2026-01-01T12:00:00Z" }
]

const columns = [
  { id: "name", compare: byText(({ name }: Row) => name) },
  { id: "size", compare: byNumber(({ size }: Row) => size) },
  { id: "at", compare: byTime(({ at }: Row) => at) },
  { id: "fixed" }
]

const namesIn = (column: string, descending = false) => sortedRows(rows, columns, { column, descending }).map(({ name }) => name)

describe("a list", () => {
  it("is sorted by texts as people read them, by numbers and by times", () => {
    expect(namesIn("name")).toStrictEqual(["a", "B9", "b10", "c"])
    expect(namesIn("size")).toStrictEqual(["a", "b10", "c", "B9"])
    expect(namesIn("at")).toStrictEqual(["B9", "c", "b10", "a"])
  })

  it("keeps the order of equal rows in both directions", () => {
    expect(namesIn("size", true)).toStrictEqual(["B9", "b10", "c", "a"])
  })

  it("is in its own order without a column that sorts it", () => {
    expect(sortedRows(rows, columns, undefined)).toBe(rows)
    expect(sortedRows(rows, columns, { column: "fixed", descending: false })).toBe(rows)
    expect(sortedRows(rows, columns, { column: "gone", descending: false })).toBe(rows)
  })
})
