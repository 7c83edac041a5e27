/**
 * Rows of many columns. On SQLite the driver makes a value for each column and looks its name up again in each row, which takes longer than the statement itself
 * does. There the columns of a row come as one JSON text.
 */
import { Remembered } from "@atelier/core/platform"
import { text } from "./Row.js"
import type { Statements } from "./Statements.js"

/** A column, with its name in the row. */
export interface Selected {
  readonly name: string
  readonly expression: string
}

export type WideColumns = readonly [Selected, ...ReadonlyArray<Selected>]

export interface WideRows {
  /** What a statement selects. */
  readonly list: string
  /** The row with its columns by their names. */
  readonly unfold: (row: object) => object
  /**
   * Returns a function that reads rows as `read` does with unfolded ones. It answers the same record for a row that is as the last one with the same first column, a text. It keeps
   * records of about so many bytes.
   */
  readonly remembering: <A>(bytes: number, read: (row: object) => A) => (row: object) => A
}

export const listOf = (columns: ReadonlyArray<Selected>): string =>
  columns.map(({ expression, name }) => `${expression} AS ${name}`).join(", ")

const column = "columns_of_row"

const value = text()

const textAt = (from: object, name: string): string => value.read(Reflect.get(from, name))

const folded = (columns: WideColumns): WideRows => {
  const [key] = columns
  const names = columns.map(({ name }) => name)
  /** A row with all names: objects that are copied from one have a common form. */
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]))
  const unfold = (text: string): object => {
    const row: Record<string, unknown> = { ...empty }
    const values: unknown = JSON.parse(text)
    if (!Array.isArray(values) || values.length !== names.length) throw new TypeError("The store answered other JSON than a row")
    let index = 0
    for (const name of names) row[name] = values[index++]
    return row
  }
  return {
    list: `${key.expression} AS ${key.name}, json_array(${columns.map(({ expression }) => expression).join(", ")}) AS ${column}`,
    unfold: (from) => unfold(textAt(from, column)),
    remembering: (bytes, read) => {
      const records = Remembered.make<ReturnType<typeof read>>(bytes)
      return (from) => {
        const text = textAt(from, column)
        return records.get(textAt(from, key.name), [text], () => read(unfold(text)))
      }
    }
  }
}

const plain = (columns: WideColumns): WideRows => ({
  list: listOf(columns),
  unfold: (row) => row,
  remembering: (bytes, read) => {
    const records = Remembered.make<ReturnType<typeof read>>(bytes)
    return (from) =>
      records.get(
        textAt(from, columns[0].name),
        columns.map(({ name }) => Reflect.get(from, name)),
        () => read(from)
      )
  }
})

/** No column may hold bytes. One that SQLite's functions of JSON have made must be turned into text, such as by `|| ''`. */
export const wideRows = (sql: Statements, columns: WideColumns): WideRows =>
  sql.dialect({ postgres: () => plain(columns), sqlite: () => folded(columns) })
