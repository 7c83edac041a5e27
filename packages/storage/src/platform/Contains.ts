import type { Fragment, Statements } from "./Statements.js"

/** In a statement that PostgreSQL is to plan for each of its uses: what it is asked for decides which of its ways is short. */
export const plannedAnew = "/* planned for each use */"

/** The mark, where PostgreSQL plans the statement. */
export const withPlanOfItsOwn = (sql: Statements): Fragment => sql.literal(sql.dialect({ postgres: () => plannedAnew, sqlite: () => "" }))

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, "\\$&")

/** Whether a text column holds `part`, which is in lower case as the column's values are. */
export const contains = (sql: Statements, column: Fragment, part: string): Fragment =>
  sql`${column} LIKE ${`%${escaped(part)}%`} ESCAPE '\\'`
