import { GitSshKeyRepository, type StoredSshKeyPair } from "@atelier/core/identity"
import type { SealedRow } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { bytes, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, one } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const key = row({ user_id: uuid, created_at: timestamp, updated_at: timestamp, public_key: text() })
const halves = row({ user_id: uuid, public_key: text(), private_key: text(), sealed_key_id: text(), sealed_key: nullable(bytes) })
const plain = row({ user_id: uuid, private_key: text() })
const sealed = row({ user_id: uuid, sealed_key_id: text(), sealed_key: bytes })

const sealedRow = (from: object): SealedRow => {
  const { sealed_key: ciphertext, sealed_key_id: key_id, user_id } = sealed(from)
  return { id: user_id, user_id, value: { key_id, ciphertext } }
}

const pair = (from: object): StoredSshKeyPair => {
  const { private_key, public_key, sealed_key: ciphertext, sealed_key_id: key_id, user_id } = halves(from)
  return ciphertext === null
    ? { public_key, private_key: { user_id, private_key: Redacted.make(private_key) } }
    : { public_key, private_key: { id: user_id, user_id, value: { key_id, ciphertext } } }
}

export const layer = service(
  GitSshKeyRepository,
  Effect.map(Statements, (sql) =>
    GitSshKeyRepository.of({
      store: (value, { ciphertext, key_id }) =>
        one(
          key,
          sql`INSERT INTO git_ssh_keys ${sql.insert({ ...value, private_key: "", sealed_key_id: key_id, sealed_key: ciphertext })}
            ON CONFLICT (user_id) DO UPDATE SET public_key = excluded.public_key, updated_at = excluded.updated_at, private_key = '',
              sealed_key_id = excluded.sealed_key_id, sealed_key = excluded.sealed_key
            RETURNING user_id, created_at, updated_at, public_key`
        ),
      ofUser: (userId) => first(key, sql`SELECT user_id, created_at, updated_at, public_key FROM git_ssh_keys WHERE user_id = ${userId}`),
      pairOf: (userId) =>
        first(pair, sql`SELECT user_id, public_key, private_key, sealed_key_id, sealed_key FROM git_ssh_keys WHERE user_id = ${userId}`),
      plain: (after, limit) =>
        all(
          (from) => {
            const { private_key, user_id } = plain(from)
            return { user_id, private_key: Redacted.make(private_key) }
          },
          sql`SELECT user_id, private_key FROM git_ssh_keys WHERE sealed_key_id = '' AND user_id > ${after}
            ORDER BY user_id LIMIT ${limit}`
        ),
      seal: ({ private_key, user_id }, { ciphertext, key_id }) =>
        applied(
          sql`UPDATE git_ssh_keys SET private_key = '', sealed_key_id = ${key_id}, sealed_key = ${ciphertext}
            WHERE user_id = ${user_id} AND sealed_key_id = '' AND private_key = ${Redacted.value(private_key)} RETURNING user_id`
        ),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealedRow,
          sql`SELECT user_id, sealed_key_id, sealed_key FROM git_ssh_keys
            WHERE user_id > ${after} AND sealed_key_id <> ${keyId} AND sealed_key_id <> '' ORDER BY user_id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE git_ssh_keys SET sealed_key_id = ${to.key_id}, sealed_key = ${to.ciphertext}
            WHERE user_id = ${id} AND sealed_key_id = ${from.key_id} AND sealed_key = ${from.ciphertext} RETURNING user_id`
        )
    })
  )
)
