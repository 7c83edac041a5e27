import { type Columns, type RecordOf, row } from "../platform/Row.js"

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
