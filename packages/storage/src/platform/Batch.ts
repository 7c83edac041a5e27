/** Many rows in one statement. */
import { Effect } from "effect"
import type { SqlError } from "@effect/sql"
import { type Dialect, dialectOf } from "./Dialect.js"
import type { Fragment, Statements } from "./Statements.js"

/** Values one statement may bind; SQLite's limit is 32,766, PostgreSQL's 65,535. */
const maximumBindings = 30_000

type Row = Readonly<Record<string, unknown>>

/** Inserts any number of rows with the same columns. */
export const insertAll = (
  sql: Statements,
  table: string,
  rows: ReadonlyArray<Row>,
  suffix?: Fragment
): Effect.Effect<ReadonlyArray<object>, SqlError.SqlError> =>
  Effect.gen(function* () {
    const [first] = rows
    if (first === undefined) return []
    const size = Math.max(1, Math.floor(maximumBindings / Object.keys(first).length))
    const answers: Array<object> = []
    for (let start = 0; start < rows.length; start += size) {
      const values = sql.insert(rows.slice(start, start + size))
      answers.push(
        ...(yield* suffix === undefined ? sql`INSERT INTO ${sql(table)} ${values}` : sql`INSERT INTO ${sql(table)} ${values} ${suffix}`)
      )
    }
    return answers
  })

/**
 * Values as the rows of a table, bound as one JSON text, so that the statement is the same for any number of values. To stand in FROM: a
 * table `item` of the columns `value`, to be read with `->>`, and `position`.
 */
export const items = (sql: Statements, values: ReadonlyArray<unknown>): Fragment =>
  sql.dialect({
    postgres: () => sql`json_array_elements(CAST(${JSON.stringify(values)} AS json)) WITH ORDINALITY AS item (value, position)`,
    sqlite: () => sql`(SELECT value, key AS position FROM json_each(${JSON.stringify(values)})) AS item`
  })

/** An expression as a value of one of the resources' types. */
export const as = (sql: Statements, type: keyof Dialect["types"], expression: Fragment): Fragment =>
  sql`CAST(${expression} AS ${sql.literal(dialectOf(sql).types[type])})`
