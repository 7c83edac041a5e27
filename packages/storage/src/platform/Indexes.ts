import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import { ddl } from "./Schema.js"
import { Statements } from "./Statements.js"

/** A migration that only changes indexes. */
export interface Indexes {
  /** For SQLite, and for a database that is empty. */
  readonly inTransaction: Effect.Effect<void, SqlError.SqlError, Statements>
  /**
   * For a PostgreSQL database in use: no write waits for it. It runs outside of transactions, by one process at a time, and again after a failure, so it does only what is
   * left to do.
   */
  readonly concurrently: Effect.Effect<void, SqlError.SqlError, Statements>
}

/** What an index is on, such as `users (age) WHERE NOT deleted`. */
type On = string | { readonly postgres: string; readonly sqlite: string }

const onIn = (sql: Statements, on: On): string =>
  typeof on === "string" ? on : sql.dialect({ postgres: () => on.postgres, sqlite: () => on.sqlite })

/**
 * Creates indexes by their names, and then drops those that they replace: servers of the version
 * before can read until then. An index that exists is kept. Unique indexes are not made here, because rows of the version before could break them.
 */
export const indexes = (create: Readonly<Record<string, On>>, drop: ReadonlyArray<string> = []): Indexes => ({
  inTransaction: Effect.flatMap(Statements, (sql) =>
    ddl(
      ...Object.entries(create).map(([name, on]) => `CREATE INDEX IF NOT EXISTS ${name} ON ${onIn(sql, on)}`),
      ...drop.map((name) => `DROP INDEX IF EXISTS ${name}`)
    )
  ),
  concurrently: Effect.gen(function* () {
    const sql = yield* Statements
    for (const [name, on] of Object.entries(create)) {
      const [existing] = yield* sql<{ readonly is_valid: boolean }>`SELECT indisvalid AS is_valid FROM pg_index
        WHERE indexrelid = to_regclass(${name})`
      if (existing?.is_valid === true) continue
      // An attempt that failed leaves an index that is written and never read
      if (existing !== undefined) yield* sql.run(`DROP INDEX CONCURRENTLY ${name}`)
      yield* sql.run(`CREATE INDEX CONCURRENTLY ${name} ON ${onIn(sql, on)}`)
    }
    for (const name of drop) yield* sql.run(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
  })
})
