/** The order that a user gives to the rows of a list which the page holds whole. */
import { useMemo, useState } from "react"
import { windowStorage } from "../../app/stored.js"

export interface Sorting {
  readonly column: string
  readonly descending: boolean
}

/** A column that may sort rows. */
interface Sorted<Row> {
  readonly id: string
  readonly compare?: (one: Row, other: Row) => number
}

/** Orders texts as people read them: without regard to case, and numbers within them by their value. */
const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true })

/** Orders rows by a text. */
export const byText =
  <Row>(textOf: (row: Row) => string): ((one: Row, other: Row) => number) =>
  (one, other) =>
    collator.compare(textOf(one), textOf(other))

/** Orders rows by a number; rows without one come last. */
export const byNumber =
  <Row>(numberOf: (row: Row) => number | null): ((one: Row, other: Row) => number) =>
  (one, other) =>
    (numberOf(one) ?? Infinity) - (numberOf(other) ?? Infinity) || 0

/** Orders rows by a time. */
export const byTime = <Row>(timeOf: (row: Row) => string): ((one: Row, other: Row) => number) => byNumber((row) => Date.parse(timeOf(row)))

/** The rows in an order; in their own without one, and where the order is of no column. */
export const sortedRows = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Sorted<Row>>,
  sorting: Sorting | undefined
): ReadonlyArray<Row> => {
  const compare = columns.find(({ id }) => id === sorting?.column)?.compare
  if (sorting === undefined || compare === undefined) return rows
  return rows.toSorted((one, other) => (sorting.descending ? compare(other, one) : compare(one, other)))
}

const keyOf = (list: string): string => `sort ${list}`

const readSorting = (list: string): Sorting | undefined => {
  const [direction, column] = (windowStorage.read(keyOf(list)) ?? "").split(" ")
  return column === undefined ? undefined : { column, descending: direction === "descending" }
}

/** Rows in the order that the user chose for the list of this name, which the window keeps; what `Table` needs to have it chosen. */
export const useSorted = <Row>(list: string, columns: ReadonlyArray<Sorted<Row>>, rows: ReadonlyArray<Row>) => {
  const [sorting, setSorting] = useState(() => readSorting(list))
  const ordered = useMemo(() => sortedRows(rows, columns, sorting), [rows, columns, sorting])
  const onSort = (next: Sorting | undefined): void => {
    setSorting(next)
    windowStorage.write(keyOf(list), next === undefined ? undefined : `${next.descending ? "descending" : "ascending"} ${next.column}`)
  }
  return { rows: ordered, sorting, onSort }
}
