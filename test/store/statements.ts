/** What an effect asks of the store. */
import { Statement } from "@effect/sql"
import { Effect } from "effect"
import { Statements } from "@atelier/storage"

export interface RecordedStatement {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/**
 * Runs an effect and answers the statements it ran, in their order; those of transactions themselves are left out. A server without tracing sends
 * statements past the library's transformers, so the effect runs with tracing.
 */
export const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const statements: Array<RecordedStatement> = []
    const value = yield* Statement.withTransformer(effect, (statement) =>
      Effect.sync(() => {
        const [text, parameters] = statement.compile()
        statements.push({ text, parameters })
        return statement
      })
    ).pipe(Effect.withTracerEnabled(true))
    return { value, statements }
  })

/**
 * How the store would run a statement, in its own words. PostgreSQL is kept from reading whole tables where there is another way: it
 * prefers to do so while tables are small.
 */
export const planOf = (statement: RecordedStatement) => explained(statement, ["enable_seqscan"])

/** The same, where PostgreSQL is kept from sorting as well: what it sorts still is in the order of no index. */
export const orderedPlanOf = (statement: RecordedStatement) => explained(statement, ["enable_seqscan", "enable_sort"])

/** How the store would run a statement if nothing keeps it from any way. */
export const chosenPlanOf = (statement: RecordedStatement) => explained(statement, [])

const explained = ({ parameters, text }: RecordedStatement, without: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* Effect.flatten(Effect.serviceOption(Statements))
    const rows = yield* sql.dialect({
      postgres: () =>
        sql.transaction(
          Effect.zipRight(
            Effect.forEach(without, (setting) => sql`SET LOCAL ${sql(setting)} = off`),
            sql.run<Record<string, unknown>>(`EXPLAIN ${text}`, parameters)
          )
        ),
      sqlite: () => sql.run<Record<string, unknown>>(`EXPLAIN QUERY PLAN ${text}`, parameters)
    })
    return rows.map((row) => String(row["QUERY PLAN"] ?? row["detail"])).join("\n")
  })
