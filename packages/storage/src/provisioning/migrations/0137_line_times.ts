import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** Lines of a log that arrive together have times some microseconds apart. SQLite stores times as texts, which have room for them. */
export default Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () =>
      ddl(
        `ALTER TABLE workspace_agent_logs ALTER COLUMN created_at TYPE :line_time`,
        `ALTER TABLE provisioner_job_logs ALTER COLUMN created_at TYPE :line_time`
      ),
    sqlite: () => Effect.void
  })
)
