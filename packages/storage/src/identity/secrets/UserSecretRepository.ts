import { type UserSecret, UserSecretRepository } from "@atelier/core/identity"
import type { SealedRow } from "@atelier/core/platform"
import { Effect } from "effect"
import { accessCondition } from "../../platform/AccessPredicate.js"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { boolean, bytes, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, prepared, run, runUnique } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  user_id: uuid,
  name: text(),
  description: text(),
  env_name: text(),
  file_path: text(),
  enabled: boolean,
  value_size: number,
  created_at: timestamp,
  updated_at: timestamp
}

const secret = row(columns)
const valueColumns = { id: uuid, user_id: uuid, value_key_id: text(), value: bytes }
const value = row(valueColumns)
const target = row({ env_name: text(), file_path: text() })

const sealed = (from: object): SealedRow => {
  const { value: ciphertext, value_key_id: key_id, ...owner } = value(from)
  return { ...owner, value: { key_id, ciphertext } }
}

export const layer = service(
  UserSecretRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const dialect = dialectOf(sql)

    const listed = (names: object) =>
      sql.literal(
        Object.keys(names)
          .map((name) => `s.${name}`)
          .join(", ")
      )
    const selected = listed(columns)
    const values = listed(valueColumns)
    // Leaves rows that refer to the user free to come and go
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    const written = ({ enabled, ...rest }: UserSecret, file_path_hash: Uint8Array) => ({
      ...rest,
      enabled: dialect.boolean(enabled),
      file_path_hash
    })

    const delivered = prepared(
      sql,
      "uuid",
      sql`SELECT ${values}, s.env_name, s.file_path FROM user_secrets s
        WHERE s.user_id = ${""} AND s.enabled = ${sql.literal(String(dialect.boolean(true)))} ORDER BY s.name`
    )

    return UserSecretRepository.of({
      lock: (userId) => applied(sql`SELECT id FROM users WHERE id = ${userId} AND NOT deleted ${forUpdate}`),
      insert: (record, { ciphertext, key_id }, filePathHash) =>
        runUnique(
          Effect.asVoid(
            sql`INSERT INTO user_secrets ${sql.insert({ ...written(record, filePathHash), value_key_id: key_id, value: ciphertext })}`
          )
        ),
      ofUser: (userId) => all(secret, sql`SELECT ${selected} FROM user_secrets s WHERE s.user_id = ${userId} ORDER BY s.name`),
      list: (userId, readable) =>
        all(
          secret,
          sql`SELECT ${selected} FROM user_secrets s
            WHERE s.user_id = ${userId} AND ${accessCondition(sql, readable, { id: "s.id", owner: "s.user_id" })} ORDER BY s.name`
        ),
      byName: (userId, name) => first(secret, sql`SELECT ${selected} FROM user_secrets s WHERE s.user_id = ${userId} AND s.name = ${name}`),
      update: (record, filePathHash) =>
        runUnique(
          Effect.map(
            sql`UPDATE user_secrets SET ${sql.update(written(record, filePathHash), ["id", "user_id", "created_at"])}
              WHERE id = ${record.id} RETURNING id`,
            ({ length }) => length > 0
          )
        ),
      setValue: (id, { ciphertext, key_id }) =>
        run(sql`UPDATE user_secrets SET value_key_id = ${key_id}, value = ${ciphertext} WHERE id = ${id}`),
      delete: (id) => applied(sql`DELETE FROM user_secrets WHERE id = ${id} RETURNING id`),
      delivered: (userId) => all((from) => ({ ...sealed(from), ...target(from) }), delivered(userId)),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealed,
          sql`SELECT ${values} FROM user_secrets s WHERE s.id > ${after} AND s.value_key_id <> ${keyId} ORDER BY s.id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE user_secrets SET value_key_id = ${to.key_id}, value = ${to.ciphertext}
            WHERE id = ${id} AND value_key_id = ${from.key_id} AND value = ${from.ciphertext} RETURNING id`
        )
    })
  })
)
