/**
 * Rows of many columns. On SQLite the driver makes a value for each column and looks its name up again in each row, which takes longer than the statement itself
 * does. There the columns of a row come as one JSON text.
 */
import { text } from "./Row.js"
import type { Statements } from "./Statements.js"

/** A column, by the name that the row has it under. */
export interface Selected {
  readonly name: string
  readonly expression: string
}

export interface WideRows {
  /** What a statement selects. */
  readonly list: string
  /** The row with its columns by their names. */
  readonly unfold: (row: object) => object
}

export const listOf = (columns: ReadonlyArray<Selected>): string =>
  columns.map(({ expression, name }) => `${expression} AS ${name}`).join(", ")

const column = "columns_of_row"

const json = text()

const folded = (columns: ReadonlyArray<Selected>): WideRows => {
  const names = columns.map(({ name }) => name)
  /** A row with all names: objects that are copied from one have a common form. */
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]))
  return {
    list: `json_array(${columns.map(({ expression }) => expression).join(", ")}) AS ${column}`,
    unfold: (from) => {
      const row: Record<string, unknown> = { ...empty }
      const values: unknown = JSON.parse(json.read(Reflect.get(from, column)))
      if (!Array.isArray(values) || values.length !== names.length) throw new TypeError("The store answered other JSON than a row")
      let index = 0
      for (const name of names) row[name] = values[index++]
      return row
    }
  }
}

/** No column may hold bytes. One that SQLite's functions of JSON have made must be turned into text, such as by `|| ''`. */
export const wideRows = (sql: Statements, columns: ReadonlyArray<Selected>): WideRows =>
  sql.dialect({ postgres: () => ({ list: listOf(columns), unfold: (row: object) => row }), sqlite: () => folded(columns) })
