import type { SqlClient, Statement } from "@effect/sql"
import type { Uuid } from "@atelier/core/platform"

/** Whether an id is one of many. They are one parameter: lists without a limit may hold more than a statement may have. */
export const among = (sql: SqlClient.SqlClient, column: Statement.Fragment, ids: ReadonlyArray<Uuid.Uuid>): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql`${column} IN (SELECT CAST(value AS uuid) FROM jsonb_array_elements_text(CAST(${JSON.stringify(ids)} AS jsonb)))`,
    orElse: () => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  })
