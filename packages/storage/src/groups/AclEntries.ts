/** ACL entries that name a user or group, in all objects. */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { run } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

/**
 * Takes what a user or a group was given on templates and workspaces, in whichever organization they are: one statement for each kind. Rows
 * are locked in the order of their ids, so that of two who do this at once one waits for the other, and templates before workspaces. Those
 * of deleted objects stay.
 */
export const takeFromAcls = (sql: Statements, acl: "user_acl" | "group_acl", id: Uuid.Uuid): Effect.Effect<void> => {
  const column = sql.literal(acl)
  const { inOrder, isNamed, without } = sql.dialect({
    postgres: () => ({
      isNamed: sql`jsonb_exists(${column}, ${id})`,
      without: sql`${column} - CAST(${id} AS text)`,
      inOrder: sql`ORDER BY id FOR NO KEY UPDATE`
    }),
    sqlite: () => {
      const path = `$."${id}"`
      return { isNamed: sql`json_type(${column}, ${path}) IS NOT NULL`, without: sql`json_remove(${column}, ${path})`, inOrder: sql`` }
    }
  })
  const take = (table: "templates" | "workspaces", named: string) =>
    run(
      sql`UPDATE ${sql.literal(table)} SET ${column} = ${without}
        WHERE id IN (SELECT id FROM ${sql.literal(table)} WHERE ${sql.literal(named)} AND NOT deleted AND ${isNamed} ${inOrder})`
    )
  return Effect.zipRight(take("templates", `${acl} <> '{}'`), take("workspaces", "is_shared = TRUE"))
}
