import { AiProviderRepository, type StoredAiProvider } from "@atelier/core/ai"
import { Uuid, service } from "@atelier/core/platform"
import { Effect } from "effect"
import { dialectOf, locking } from "../platform/Dialect.js"
import { boolean, bytes, columnList, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, run, runUnique } from "../platform/Statement.js"
import { Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  type: text(),
  name: text(),
  display_name: text(),
  icon: text(),
  enabled: boolean,
  base_url: text(),
  created_at: timestamp,
  updated_at: timestamp,
  secrets_key_id: text(),
  secrets: bytes
}

const shape = row(columns)
const sealedShape = row({ id: uuid, secrets_key_id: text(), secrets: bytes })

const provider = (from: object): StoredAiProvider => {
  const { secrets: ciphertext, secrets_key_id: key_id, ...rest } = shape(from)
  return { ...rest, secrets: { key_id, ciphertext } }
}

const sealed = (from: object) => {
  const { id, secrets: ciphertext, secrets_key_id: key_id } = sealedShape(from)
  return { id, user_id: Uuid.nil, value: { key_id, ciphertext } }
}

export const layer = service(
  AiProviderRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns))
    const { boolean: bool } = dialectOf(sql)
    const forUpdate = locking(sql, "FOR UPDATE")
    const written = ({ enabled, secrets, ...rest }: StoredAiProvider) => ({
      ...rest,
      enabled: bool(enabled),
      secrets_key_id: secrets.key_id,
      secrets: secrets.ciphertext
    })
    return AiProviderRepository.of({
      list: all(provider, sql`SELECT ${selected} FROM ai_providers ORDER BY created_at, id`),
      find: (by) =>
        first(provider, sql`SELECT ${selected} FROM ai_providers WHERE ${"id" in by ? sql`id = ${by.id}` : sql`name = ${by.name}`}`),
      lock: (id) => first(provider, sql`SELECT ${selected} FROM ai_providers WHERE id = ${id} ${forUpdate}`),
      insert: (value) => Effect.asVoid(runUnique(sql`INSERT INTO ai_providers ${sql.insert(written(value))}`)),
      update: (value) => run(sql`UPDATE ai_providers SET ${sql.update(written(value), ["id"])} WHERE id = ${value.id}`),
      remove: (id) => applied(sql`DELETE FROM ai_providers WHERE id = ${id} RETURNING id`),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealed,
          sql`SELECT id, secrets_key_id, secrets FROM ai_providers
            WHERE id > ${after} AND secrets_key_id <> ${keyId} ORDER BY id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE ai_providers SET secrets_key_id = ${to.key_id}, secrets = ${to.ciphertext}
            WHERE id = ${id} AND secrets_key_id = ${from.key_id} AND secrets = ${from.ciphertext} RETURNING id`
        )
    })
  })
)
