import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import { type Dialect, dialectOf } from "./Dialect.js"
import { Statements } from "./Statements.js"

/**
 * Runs DDL statements in their order. Column types that differ between the databases are written `:uuid`, `:timestamp`, `:line_time`, `:json`,
 * `:bytes`, `:boolean`, `:bigint`, `:serial`. Resource fields keep their wire names; unique indexes are named
 * `<table>_<column>[_<column>…]`, which is how a violated one is recognised.
 */
export const ddl = (...statements: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError, Statements> =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const { types } = dialectOf(sql)
    yield* sql.batch(statements.map((statement) => withTypes(statement, types)))
  })

const withTypes = (statement: string, types: Dialect["types"]): string =>
  statement.replaceAll(/:(uuid|timestamp|line_time|json|bytes|boolean|bigint|serial)\b/g, (_, name: keyof Dialect["types"]) => types[name])

/** Statements that a table's changes of rows bring along; they name the row before as `OLD` and after as `NEW`. */
export interface Trigger {
  readonly name: string
  /** Such as `AFTER INSERT ON users`. */
  readonly when: string
  readonly statements: ReadonlyArray<string>
}

/** Creates a trigger. */
export const trigger = ({ name, statements, when }: Trigger): Effect.Effect<void, SqlError.SqlError, Statements> =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const body = statements.map((statement) => `${statement};`).join("\n")
    yield* sql.dialect({
      postgres: () =>
        ddl(
          `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`,
          `CREATE TRIGGER ${name} ${when} FOR EACH ROW EXECUTE FUNCTION ${name}()`
        ),
      sqlite: () => ddl(`CREATE TRIGGER ${name} ${when} BEGIN ${body} END`)
    })
  })
