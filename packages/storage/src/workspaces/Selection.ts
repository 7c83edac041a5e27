import { type Column, row } from "../platform/Row.js"

type Columns = Readonly<Record<string, Column<unknown>>>
type RecordOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer A> ? A : never }

/** The columns of one table of a join, selected under names of their own and read back into one record. */
export interface Selection<A> {
  readonly list: string
  readonly read: (row: object) => A
}

export const selection = <const C extends Columns>(alias: string, columns: C): Selection<RecordOf<C>> => ({
  list: Object.keys(columns)
    .map((name) => `${alias}.${name} AS ${alias}_${name}`)
    .join(", "),
  read: row(columns, `${alias}_`)
})
