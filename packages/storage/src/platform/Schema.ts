import { SqlClient, type SqlError } from "@effect/sql"
import { Effect } from "effect"
import { type Dialect, dialectOf } from "./Dialect.js"

/**
 * Runs DDL statements one after another. Column types that differ between the databases are written `:uuid`, `:timestamp`, `:json`,
 * `:bytes`, `:boolean`, `:bigint`, `:serial`. Resource fields keep their wire names; unique indexes are named
 * `<table>_<column>[_<column>…]`, which is how a violated one is recognised.
 */
export const ddl = (...statements: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { types } = dialectOf(sql)
    yield* Effect.forEach(statements, (statement) => sql.unsafe(withTypes(statement, types)), { discard: true })
  })

const withTypes = (statement: string, types: Dialect["types"]): string =>
  statement.replaceAll(/:(uuid|timestamp|json|bytes|boolean|bigint|serial)\b/g, (_, name: keyof Dialect["types"]) => types[name])
