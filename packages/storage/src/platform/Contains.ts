import type { Fragment, Statements } from "./Statements.js"

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, "\\$&")

/** Whether a text column holds `part`, which is in lower case as the column's values are. */
export const contains = (sql: Statements, column: Fragment, part: string): Fragment =>
  sql`${column} LIKE ${`%${escaped(part)}%`} ESCAPE '\\'`
