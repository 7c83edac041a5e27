/**
 * From a row of either database to a record. A row shape is declared once per query, by column; both databases then answer the same
 * values: instants and JSON come from the drivers as text, booleans as 0 and 1 from SQLite.
 */
import { Schema } from "effect"
import { type Timestamp, Uuid } from "@atelier/core/platform"

/** How one column is read. */
export interface Column<A> {
  readonly read: (value: unknown) => A
  /** Types of PostgreSQL that arrive in another form within JSON than by themselves. */
  readonly type?: "timestamp" | "json"
}

export type Columns = Readonly<Record<string, Column<unknown>>>

/** The record a row shape answers. */
export type RowOf<Shape extends (row: never) => unknown> = ReturnType<Shape>

const mismatch = (expected: string, value: unknown): never => {
  throw new TypeError(`The store answered ${value === null ? "null" : typeof value} where ${expected} is declared`)
}

const readText = (value: unknown): string => (typeof value === "string" ? value : mismatch("text", value))

/** Text; give the type argument when the column holds one of a fixed set of words, or a branded text. */
export const text = <A extends string = string>(): Column<A> => ({
  // The set of words is enforced where rows are written; reading trusts the store
  read: (value) => readText(value) as A
})

export const uuid: Column<Uuid.Uuid> = text<Uuid.Uuid>()

export const timestamp: Column<Timestamp.Timestamp> = { ...text<Timestamp.Timestamp>(), type: "timestamp" }

/** A number: PostgreSQL's 64-bit integers and numerics arrive as numbers too. */
export const number: Column<number> = { read: (value) => (typeof value === "number" ? value : mismatch("a number", value)) }

export const boolean: Column<boolean> = {
  read: (value) => (typeof value === "boolean" ? value : typeof value === "number" ? value !== 0 : mismatch("a boolean", value))
}

export const bytes: Column<Uint8Array> = { read: (value) => (value instanceof Uint8Array ? value : mismatch("bytes", value)) }

/** Characters of a JSON text up to which what was read of it is kept for the next row. */
const maximumKept = 256

/**
 * A JSON column, checked against a schema. Rows of a page mostly have the same text in it, such as `{}`: it is then read once, and they share the value.
 */
export const json = <A, I>(schema: Schema.Schema<A, I>): Column<A> => {
  // Made with the first row: the decoders of all columns take a start several milliseconds
  let decode: ((text: unknown) => A) | undefined
  let kept: { readonly text: string; readonly value: A } | undefined
  return {
    read: (given) => {
      const text = readText(given)
      if (kept?.text === text) return kept.value
      decode ??= Schema.decodeUnknownSync(Schema.parseJson(schema))
      const value = decode(text)
      if (text.length <= maximumKept) kept = { text, value }
      return value
    },
    type: "json"
  }
}

const isListOfTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

/** A JSON column that holds a list of texts: too frequent in rows to be read by a schema. */
const listOf = <A extends string>(): Column<ReadonlyArray<A>> => ({
  read: (value) => {
    const list: unknown = JSON.parse(readText(value))
    // As for a single text, the set of words is enforced where rows are written
    return isListOfTexts(list) ? (list as ReadonlyArray<A>) : mismatch("a list of texts", list)
  },
  type: "json"
})

/** A JSON column that holds a list of texts. */
export const texts: Column<ReadonlyArray<string>> = listOf()

/** A JSON column that holds a list of ids. */
export const uuids: Column<ReadonlyArray<Uuid.Uuid>> = listOf<Uuid.Uuid>()

export const nullable = <A>(column: Column<A>): Column<A | null> => ({
  ...column,
  read: (value) => (value === null || value === undefined ? null : column.read(value))
})

/** The record that columns are read to. */
export type RecordOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer A> ? A : never }

/** Compiles a row shape: the columns a statement selects, each with how it is read. `prefix` begins their names in the row. */
export const row = <const C extends Columns>(columns: C, prefix = ""): ((row: object) => RecordOf<C>) => {
  const entries = Object.entries(columns).map(([name, column]) => ({ name, from: `${prefix}${name}`, column }))
  return (row) => {
    const source = row as Readonly<Record<string, unknown>>
    const record: Record<string, unknown> = {}
    for (const { column, from, name } of entries) record[name] = column.read(source[from])
    // Built key by key from `columns`, which the type is computed from
    return record as RecordOf<C>
  }
}

/** The names of columns as a select list, of the table with an alias where one is given. */
export const columnList = (columns: object, alias?: string): string =>
  Object.keys(columns)
    .map((name) => (alias === undefined ? name : `${alias}.${name}`))
    .join(", ")
