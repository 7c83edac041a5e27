import { Effect } from "effect"
import { type Indexes, indexes } from "../../platform/Indexes.js"
import { Statements } from "../../platform/Statements.js"

const made = indexes({ workspaces_name_parts: "workspaces USING gin (name_key gin_trgm_ops) WHERE NOT deleted" })

/** Installs the extension where the server offers it to the owner of the database. Returns whether statements find its operators by their names. */
const hasTrigrams = Effect.gen(function* () {
  const sql = yield* Statements
  yield* sql.run(`DO $$
    BEGIN
      CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE 'without pg_trgm, searches for a part of a name read the names of all workspaces: %', SQLERRM;
    END $$`)
  const found = yield* sql`SELECT 1 FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid)`
  return found.length > 0
})

/** An index of trigrams on PostgreSQL, by which a search for a part of a name reads the workspaces alone whose names may have it. SQLite searches the index of names. */
const nameParts: Indexes = {
  inTransaction: Effect.flatMap(Statements, (sql) =>
    sql.dialect({ postgres: () => Effect.whenEffect(made.inTransaction, hasTrigrams), sqlite: () => Effect.void })
  ),
  concurrently: Effect.whenEffect(made.concurrently, hasTrigrams)
}

export default nameParts
