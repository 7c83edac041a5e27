import { type Columns, type RecordOf, row } from "../platform/Row.js"
import { listOf, type Selected } from "../platform/WideRows.js"

/** The columns of one table of a join, selected under names of their own and read back into one record. */
export interface Selection<A> {
  readonly columns: ReadonlyArray<Selected>
  readonly list: string
  readonly read: (row: object) => A
}

export const selection = <const C extends Columns>(alias: string, columns: C): Selection<RecordOf<C>> => {
  const selected = Object.keys(columns).map((name) => ({ name: `${alias}_${name}`, expression: `${alias}.${name}` }))
  return { columns: selected, list: listOf(selected), read: row(columns, `${alias}_`) }
}
