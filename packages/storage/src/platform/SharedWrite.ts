import type { SqlClient, Statement } from "@effect/sql"
import { withItem } from "./SharedItem.js"

const mark = Symbol.for("@atelier/storage/SharedWrite")

/**
 * Marks a short write that many requests make, outside of transactions. On PostgreSQL those that wait at the same time are sent in one transaction, each with
 * its own answer. A transaction that fails is rolled back, and its statements then run one by one. So a statement must not depend on being alone in its
 * transaction, should hold few locks, and must not fail by what a caller can choose, such as a name that is taken.
 */
export const sharedWrite = <A>(statement: Statement.Statement<A>): Statement.Statement<A> => Object.assign(statement, { [mark]: true })

/** Whether a statement was marked by `sharedWrite`. */
export const isSharedWrite = (statement: object): boolean => mark in statement

/** A shared write that serves several requests at once, as `withItem` says. It is put into text once: give it any text in the place of its only parameter, the list. */
export const sharedBatch = (
  sql: SqlClient.SqlClient,
  statement: Statement.Statement<object>
): ((item: unknown) => Statement.Statement<object>) => {
  const [text] = statement.compile()
  return (item) => sharedWrite(withItem(sql, text, item))
}
