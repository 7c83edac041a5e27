import type { SqlClient, Statement } from "@effect/sql"

const mark = Symbol.for("@atelier/storage/SharedItem")

/**
 * A statement that serves several requests at once on PostgreSQL: its only value is the JSON text of a list, here of one item, to which the items of others
 * with the same text may be added. Each row that it answers has the `position` of its item in the list, from 1. A statement costs PostgreSQL as much as the few rows
 * that it reads or writes for an item.
 */
export const withItem = (sql: SqlClient.SqlClient, text: string, item: unknown): Statement.Statement<object> => {
  const written = JSON.stringify(item)
  return Object.assign(sql.unsafe<object>(text, [`[${written}]`]), { [mark]: written })
}

/** The JSON text of the item of a statement that was made by `withItem`. */
export const sharedItem = (statement: object): string | undefined => {
  const item: unknown = Reflect.get(statement, mark)
  return typeof item === "string" ? item : undefined
}
