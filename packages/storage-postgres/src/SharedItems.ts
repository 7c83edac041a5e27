/** Statements that serve several callers. The only value of such a statement is a list, in which each caller has an item. */

/** Items of a statement at most: all of its callers wait for each of them. */
const maximumItems = 32

/** What a caller has to be sent. */
export interface Call {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  /** JSON; undefined for a statement that serves one caller. */
  readonly item: string | undefined
}

/** The callers of each statement, in the order of the first of them. */
export const statementsOf = <A extends Call>(calls: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const statements: Array<Array<A>> = []
  const open = new Map<string, Array<A>>()
  for (const call of calls) {
    const others = call.item === undefined ? undefined : open.get(call.text)
    if (others !== undefined && others.length < maximumItems) {
      others.push(call)
      continue
    }
    const served = [call]
    statements.push(served)
    if (call.item !== undefined) open.set(call.text, served)
  }
  return statements
}

/** The values of a statement. */
export const valuesOf = (served: ReadonlyArray<Call>): Array<unknown> => {
  const [first, another] = served
  return first !== undefined && another === undefined ? [...first.values] : [`[${served.map(({ item }) => item).join(",")}]`]
}

/** The rows of each caller of a statement. */
export const rowsOf = (served: ReadonlyArray<Call>, rows: ReadonlyArray<object>): ReadonlyArray<ReadonlyArray<object>> => {
  if (served.length === 1) return [rows]
  const answers: ReadonlyArray<Array<object>> = served.map(() => [])
  for (const row of rows) answers[Number(Reflect.get(row, "position")) - 1]?.push(row)
  return answers
}
