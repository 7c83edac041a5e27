/**
 * Rows of several tables by one statement, each table's as one JSON text: what a statement costs by itself is paid once, and drivers have a
 * few long texts to read instead of thousands of values.
 */
import { Remembered, Timestamp } from "@atelier/core/platform"
import { type Column, type Columns, type RecordOf, text } from "./Row.js"
import type { Fragment, Statements } from "./Statements.js"

/** Rows of one table within a statement's row. */
export interface NestedRows<A> {
  /** The expression that makes them, from `FROM` and what follows it. */
  readonly select: (from: Fragment) => Fragment
  readonly read: (value: unknown) => ReadonlyArray<A>
}

const json = text()

/** Too frequent to be read by a schema. */
const parseRows = (value: unknown): ReadonlyArray<ReadonlyArray<unknown>> => {
  const rows: unknown = JSON.parse(json.read(value))
  if (Array.isArray(rows) && rows.every((row) => Array.isArray(row))) return rows
  throw new TypeError("The store answered other JSON than a list of rows")
}

/** PostgreSQL writes instants and JSON within JSON otherwise than as values of their own, which is how columns read them. */
const postgresExpression = (expression: string, { type }: Column<unknown>): string => {
  if (type === "timestamp") return `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return type === "json" ? `CAST(${expression} AS text)` : expression
}

/** Bytes of records of each table that are kept. */
const keptRecords = 2 ** 20

const neverInJson = "0001-01-01T00:00:00.000Z"

const rowsBy = <A>(
  sql: Statements,
  columns: Columns,
  aliasOf: (column: string) => string,
  read: (values: ReadonlyArray<unknown>) => A
): NestedRows<A> => {
  const expressionsBy = (of: (expression: string, column: Column<unknown>) => string): string =>
    Object.entries(columns)
      .map(([name, column]) => of(`${aliasOf(name)}.${name}`, column))
      .join(", ")
  const list = sql.dialect({
    sqlite: () => sql.literal(`json_group_array(json_array(${expressionsBy((expression) => expression)}))`),
    postgres: () => sql.literal(`coalesce(json_agg(json_build_array(${expressionsBy(postgresExpression)})), '[]')`)
  })
  return { select: (from) => sql`(SELECT ${list} ${from})`, read: (value) => parseRows(value).map(read) }
}

const reading = <const C extends Columns>(columns: C): ((values: ReadonlyArray<unknown>) => RecordOf<C>) => {
  const entries: ReadonlyArray<readonly [string, Column<unknown>]> = Object.entries(columns)
  return (values) => {
    const record: Record<string, unknown> = {}
    for (const [index, [name, column]] of entries.entries()) {
      const value = values[index]
      record[name] = column.read(column.type === "timestamp" && value === neverInJson ? Timestamp.never : value)
    }
    // Built key by key from `columns`, which the type is computed from
    return record as RecordOf<C>
  }
}

/**
 * The columns of rows, of tables by their aliases. Columns may not hold bytes, nor instants of microseconds. A row that is as the last one with the same `id` is read to the same
 * record.
 */
export const nestedRows = <const C extends Columns & { readonly id: Column<string | number> }>(
  sql: Statements,
  columns: C,
  aliasOf: (column: string) => string
): NestedRows<RecordOf<C>> => {
  const place = Object.keys(columns).indexOf("id")
  const records = Remembered.make<RecordOf<C>>(keptRecords)
  const recordOf = reading(columns)
  return rowsBy(sql, columns, aliasOf, (values) => records.get(String(values[place]), values, () => recordOf(values)))
}

/** The same for rows that are seldom read again. None is kept. */
export const passingRows = <const C extends Columns>(
  sql: Statements,
  columns: C,
  aliasOf: (column: string) => string
): NestedRows<RecordOf<C>> => rowsBy(sql, columns, aliasOf, reading(columns))
