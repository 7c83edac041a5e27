import { SshKeyRepository } from "@atelier/core/identity"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, run, runUnique } from "../../platform/Statement.js"
import { Statements } from "../../platform/Statements.js"

const key = row({
  id: uuid,
  user_id: uuid,
  name: text(),
  public_key: text(),
  fingerprint: text(),
  created_at: timestamp,
  last_used_at: nullable(timestamp)
})

export const layer = service(
  SshKeyRepository,
  Effect.map(Statements, (sql) => {
    const columns = sql.literal("id, user_id, name, public_key, fingerprint, created_at, last_used_at")
    return SshKeyRepository.of({
      insert: (value) => Effect.asVoid(runUnique(sql`INSERT INTO user_ssh_keys ${sql.insert({ ...value })}`)),
      ofUser: (userId) => all(key, sql`SELECT ${columns} FROM user_ssh_keys WHERE user_id = ${userId} ORDER BY created_at, id`),
      byId: (id) => first(key, sql`SELECT ${columns} FROM user_ssh_keys WHERE id = ${id}`),
      byFingerprint: (fingerprint) => first(key, sql`SELECT ${columns} FROM user_ssh_keys WHERE fingerprint = ${fingerprint}`),
      delete: (id) => applied(sql`DELETE FROM user_ssh_keys WHERE id = ${id} RETURNING id`),
      recordUse: (id, now, before) =>
        run(sql`UPDATE user_ssh_keys SET last_used_at = ${now} WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${before})`)
    })
  })
)
