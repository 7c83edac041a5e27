import { Effect } from "effect"
import { type Indexes, indexes } from "../../platform/Indexes.js"
import { Statements } from "../../platform/Statements.js"
import { installed } from "../../platform/Trigrams.js"

/** An index of the parts of workspaces' names. */
export const trigramIndexes = { workspaces_name_parts: "workspaces USING gin (name_key gin_trgm_ops) WHERE NOT deleted" }

const made = indexes(trigramIndexes)

/** An index of trigrams on PostgreSQL, by which a search for a part of a name reads the workspaces alone whose names may have it. SQLite searches the index of names. */
const nameParts: Indexes = {
  inTransaction: Effect.flatMap(Statements, (sql) =>
    sql.dialect({ postgres: () => Effect.whenEffect(made.inTransaction, installed), sqlite: () => Effect.void })
  ),
  concurrently: Effect.whenEffect(made.concurrently, installed)
}

export default nameParts
