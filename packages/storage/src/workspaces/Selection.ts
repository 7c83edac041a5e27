import { type Column, row } from "../platform/Row.js"

type Columns = Readonly<Record<string, Column<unknown>>>
type RecordOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer A> ? A : never }

/** The columns of one table of a join, selected under names of their own and read back into one record. */
export interface Selection<A> {
  readonly list: string
  readonly read: (row: object) => A
}

export const selection = <const C extends Columns>(alias: string, columns: C): Selection<RecordOf<C>> => {
  const shape = row(columns)
  const names = Object.keys(columns).map((name) => [name, `${alias}_${name}`] as const)
  return {
    list: names.map(([name, as]) => `${alias}.${name} AS ${as}`).join(", "),
    read: (from) => {
      const source = new Map(Object.entries(from))
      return shape(Object.fromEntries(names.map(([name, as]) => [name, source.get(as)])))
    }
  }
}
