import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/**
 * Each value of the sequence stands for the hundred ids up to it, as many as a row has lines at most: a value for each line took a quarter of what storing
 * a batch does. SQLite has no sequence.
 */
export default Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () =>
      ddl(
        `ALTER TABLE workspace_agent_logs ALTER COLUMN id SET INCREMENT BY 100`,
        // A sequence that was never used would begin with 1, before which there are no ids
        `SELECT setval('workspace_agent_logs_id_seq', nextval('workspace_agent_logs_id_seq'))`
      ),
    sqlite: () => Effect.void
  })
)
