import { Effect } from "effect"
import { Statements } from "../../platform/Statements.js"
import { all } from "../../platform/Statement.js"
import { row, text } from "../../platform/Row.js"

/** The tables with encrypted values, their primary keys, and the columns with the ids of the keys. */
const columns = [
  ["user_secrets", "id", "value_key_id"],
  ["git_ssh_keys", "user_id", "sealed_key_id"],
  ["user_links", "id", "tokens_key_id"],
  ["external_auth_links", "id", "tokens_key_id"],
  ["ai_providers", "id", "secrets_key_id"],
  ["crypto_keys", "id", "secret_key_id"],
  ["workspace_host_keys", "workspace_id", "sealed_key_id"],
  ["workspace_builds", "id", "sealed_state_key_id"]
] as const

/** Rows that are looked at at each end of a table: reading all of them could take minutes. */
const rows = 100

const shape = row({ key_id: text() })

/** The ids of the encryption keys that the newest and the oldest values of each table need. */
export const encryptionKeyIds: Effect.Effect<ReadonlyArray<string>, never, Statements> = Effect.flatMap(Statements, (sql) => {
  const ends = columns.flatMap(([table, id, key]) =>
    ["ASC", "DESC"].map(
      (order, at) => `SELECT key_id FROM (SELECT ${key} AS key_id FROM ${table} ORDER BY ${id} ${order} LIMIT ${rows}) AS ${table}_${at}`
    )
  )
  const found = all(shape, sql`SELECT key_id FROM (${sql.literal(ends.join(" UNION "))}) AS ends WHERE key_id <> '' ORDER BY key_id`)
  return Effect.map(found, (ids) => ids.map(({ key_id }) => key_id))
})
