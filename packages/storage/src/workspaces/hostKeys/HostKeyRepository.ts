import { HostKeyRepository } from "@atelier/core/workspaces"
import { type Sealed, type SealedRow, service, Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { bytes, row, text, uuid } from "../../platform/Row.js"
import { all, applied, first, one, touched } from "../../platform/Statement.js"
import { Statements } from "../../platform/Statements.js"

const columns = row({ workspace_id: uuid, sealed_key_id: text(), sealed_key: bytes })

const sealed = (from: object): Sealed => {
  const { sealed_key: ciphertext, sealed_key_id: key_id } = columns(from)
  return { key_id, ciphertext }
}

const sealedRow = (from: object): SealedRow => ({ id: columns(from).workspace_id, user_id: Uuid.nil, value: sealed(from) })

/** What no stored key equals. */
const none: Sealed = { key_id: "", ciphertext: new Uint8Array() }

export const layer = service(
  HostKeyRepository,
  Effect.map(Statements, (sql) =>
    HostKeyRepository.of({
      of: (id) => first(sealed, sql`SELECT workspace_id, sealed_key_id, sealed_key FROM workspace_host_keys WHERE workspace_id = ${id}`),
      keep: (id, { ciphertext, key_id }, unreadable = none, created_at) => {
        const isUnreadable = sql`known.sealed_key_id = ${unreadable.key_id} AND known.sealed_key = ${unreadable.ciphertext}`
        return one(
          sealed,
          sql`INSERT INTO workspace_host_keys AS known ${sql.insert({ workspace_id: id, created_at, sealed_key_id: key_id, sealed_key: ciphertext })}
            ON CONFLICT (workspace_id) DO UPDATE SET
              sealed_key_id = CASE WHEN ${isUnreadable} THEN excluded.sealed_key_id ELSE known.sealed_key_id END,
              sealed_key = CASE WHEN ${isUnreadable} THEN excluded.sealed_key ELSE known.sealed_key END
            RETURNING workspace_id, sealed_key_id, sealed_key`
        )
      },
      forgetDeleted: touched(
        sql`DELETE FROM workspace_host_keys WHERE workspace_id IN (SELECT id FROM workspaces WHERE deleted) RETURNING workspace_id`
      ),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealedRow,
          sql`SELECT workspace_id, sealed_key_id, sealed_key FROM workspace_host_keys
            WHERE workspace_id > ${after} AND sealed_key_id <> ${keyId} ORDER BY workspace_id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE workspace_host_keys SET sealed_key_id = ${to.key_id}, sealed_key = ${to.ciphertext}
            WHERE workspace_id = ${id} AND sealed_key_id = ${from.key_id} AND sealed_key = ${from.ciphertext} RETURNING workspace_id`
        )
    })
  )
)
