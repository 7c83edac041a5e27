import type { Fragment, Statements } from "./Statements.js"

/** SQLite knows no offset without a limit. */
const maximumRows = 2_147_483_647

/** The rows that a client asks for: a limit of 0 means all. */
export const rowsWanted = (limit: number): number => (limit === 0 ? maximumRows : limit)

/** The sizes of pages that clients ask for. */
const usual: ReadonlySet<number> = new Set([1, 10, 25, 50, 100, 250, 1000])

/**
 * `LIMIT` and `OFFSET` of a page. PostgreSQL expects a tenth of all rows where a limit is a parameter. For pages that would be slow, so
 * that it plans the statement anew each time, which takes 3 ms where the statement joins a dozen tables. With a usual size in its text, a
 * plan is made once. Other sizes are parameters: the texts that a connection prepares stay few.
 */
export const limited = (sql: Statements, { limit, offset = 0 }: { readonly limit: number; readonly offset?: number }): Fragment => {
  const size = usual.has(limit) ? sql.literal(`LIMIT ${limit}`) : sql`LIMIT ${limit}`
  return offset === 0 ? size : sql`${size} OFFSET ${offset}`
}
