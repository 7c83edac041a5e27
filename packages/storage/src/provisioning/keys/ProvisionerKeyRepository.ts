import { canonicalTags, ProvisionerKeyRepository, ProvisionerTags } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { columnList, json, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, runUnique } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = { id: uuid, created_at: timestamp, organization_id: uuid, name: text(), tags: json(ProvisionerTags) }
const key = row(columns)

export const layer = service(
  ProvisionerKeyRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql`SELECT ${sql.literal(columnList(columns))} FROM provisioner_keys`

    return ProvisionerKeyRepository.of({
      insert: (value, hashed_secret) =>
        Effect.asVoid(
          runUnique(sql`INSERT INTO provisioner_keys ${sql.insert({ ...value, tags: canonicalTags(value.tags), hashed_secret })}`)
        ),
      list: (organizationId) => all(key, sql`${selected} WHERE organization_id = ${organizationId} ORDER BY created_at, id`),
      byIds: (ids) => all(key, sql`${selected} WHERE ${among(sql, sql`id`, ids)}`),
      byName: (organizationId, name) => first(key, sql`${selected} WHERE organization_id = ${organizationId} AND name = ${name}`),
      bySecret: (hashedSecret) => first(key, sql`${selected} WHERE hashed_secret = ${hashedSecret}`),
      delete: (id) => applied(sql`DELETE FROM provisioner_keys WHERE id = ${id} RETURNING id`)
    })
  })
)
