import { type CryptoKeyFeature, CryptoKeyRepository, type StoredCryptoKey } from "@atelier/core/deployment"
import { Uuid, service } from "@atelier/core/platform"
import { Effect } from "effect"
import { bytes, columnList, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, run } from "../../platform/Statement.js"
import { Statements } from "../../platform/Statements.js"
import { encryptionKeyIds } from "./EncryptionKeyIds.js"

const columns = {
  id: uuid,
  feature: text<CryptoKeyFeature>(),
  sequence: number,
  starts_at: timestamp,
  deletes_at: nullable(timestamp),
  secret_key_id: nullable(text()),
  secret: nullable(bytes)
}

const shape = row(columns)
const sealedShape = row({ id: uuid, secret_key_id: text(), secret: bytes })

const key = (from: object): StoredCryptoKey => {
  const { secret: ciphertext, secret_key_id: key_id, ...rest } = shape(from)
  return { ...rest, secret: key_id === null || ciphertext === null ? null : { key_id, ciphertext } }
}

const sealed = (from: object) => {
  const { id, secret: ciphertext, secret_key_id: key_id } = sealedShape(from)
  return { id, user_id: Uuid.nil, value: { key_id, ciphertext } }
}

export const layer = service(
  CryptoKeyRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns))
    return CryptoKeyRepository.of({
      ofFeature: (feature) => all(key, sql`SELECT ${selected} FROM crypto_keys WHERE feature = ${feature} ORDER BY sequence`),
      insert: ({ secret, ...rest }) =>
        run(
          sql`INSERT INTO crypto_keys ${sql.insert({ ...rest, secret_key_id: secret?.key_id ?? null, secret: secret?.ciphertext ?? null })}
            ON CONFLICT (feature, sequence) DO NOTHING`
        ),
      retire: (id, at) => run(sql`UPDATE crypto_keys SET deletes_at = ${at} WHERE id = ${id} AND deletes_at IS NULL`),
      wipe: (now) => run(sql`UPDATE crypto_keys SET secret_key_id = NULL, secret = NULL WHERE deletes_at <= ${now} AND secret IS NOT NULL`),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealed,
          sql`SELECT id, secret_key_id, secret FROM crypto_keys
            WHERE id > ${after} AND secret_key_id <> ${keyId} ORDER BY id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE crypto_keys SET secret_key_id = ${to.key_id}, secret = ${to.ciphertext}
            WHERE id = ${id} AND secret_key_id = ${from.key_id} AND secret = ${from.ciphertext} RETURNING id`
        ),
      encryptionKeyIds: Effect.provideService(encryptionKeyIds, Statements, sql)
    })
  })
)
