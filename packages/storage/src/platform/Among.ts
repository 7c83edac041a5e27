import type { Uuid } from "@atelier/core/platform"
import type { Fragment, Statements } from "./Statements.js"

/** Whether an id is one of many. They are one parameter: lists without a limit may hold more than a statement may have. */
export const among = (sql: Statements, column: Fragment, ids: ReadonlyArray<Uuid.Uuid>): Fragment =>
  sql.dialect({
    // An array whose length PostgreSQL does not see: it expects ten ids, looks each up in an index, and keeps the plan for any number
    postgres: () => sql`${column} = ANY (ARRAY(SELECT unnest(CAST(${`{${ids.join(",")}}`} AS uuid[]))))`,
    sqlite: () => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  })
