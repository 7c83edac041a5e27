import { IdpSyncRepository } from "@atelier/core/identity"
import { Effect, Option, Schema } from "effect"
import { json, nullable, row, uuid } from "../../platform/Row.js"
import { all, first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const stored = row({ organization_id: uuid, settings: json(Schema.Unknown) })
const locked = row({ settings: nullable(json(Schema.Unknown)) })

export const layer = service(
  IdpSyncRepository,
  Effect.map(Statements, (sql) => {
    const forUpdate = locking(sql, "FOR UPDATE")

    /** Whether some value stands for a target. */
    const isMapped = (target: string) =>
      sql.dialect({
        postgres: () => sql`EXISTS (SELECT 1 FROM jsonb_each(settings -> 'mapping') m WHERE jsonb_exists(m.value, ${target}))`,
        sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(settings, '$.mapping') m, json_each(m.value) t WHERE t.value = ${target})`
      })

    /** Settings whose values stand for the same but a target. */
    const without = (target: string) =>
      sql.dialect({
        postgres: () => sql`jsonb_set(settings, '{mapping}',
            (SELECT jsonb_object_agg(m.key, m.value - CAST(${target} AS text)) FROM jsonb_each(settings -> 'mapping') m))`,
        sqlite: () => sql`json_set(settings, '$.mapping', json((SELECT json_group_object(m.key,
            json((SELECT json_group_array(t.value) FROM json_each(m.value) t WHERE t.value <> ${target})))
          FROM json_each(settings, '$.mapping') m)))`
      })

    return IdpSyncRepository.of({
      find: (kind, organizationIds) =>
        organizationIds.length === 0
          ? Effect.succeed([])
          : all(
              stored,
              sql`SELECT organization_id, settings FROM idp_sync_settings
                WHERE ${sql.in("organization_id", organizationIds)} AND kind = ${kind} AND settings IS NOT NULL`
            ),
      // A first write needs a row to lock, too
      lock: (key, at) =>
        Effect.zipRight(
          run(sql`INSERT INTO idp_sync_settings ${sql.insert({ ...key, settings: null, updated_at: at })} ON CONFLICT DO NOTHING`),
          Effect.map(
            first(
              locked,
              sql`SELECT settings FROM idp_sync_settings WHERE organization_id = ${key.organization_id} AND kind = ${key.kind} ${forUpdate}`
            ),
            Option.flatMap(({ settings }) => Option.fromNullable(settings))
          )
        ),
      write: ({ kind, organization_id }, settings, at) =>
        run(
          sql`UPDATE idp_sync_settings SET settings = ${JSON.stringify(settings)}, updated_at = ${at}
            WHERE organization_id = ${organization_id} AND kind = ${kind}`
        ),
      unmap: ({ kind, organization_id }, deleted, at) =>
        run(
          sql`UPDATE idp_sync_settings SET settings = ${without(deleted)}, updated_at = ${at}
            WHERE organization_id = ${organization_id} AND kind = ${kind} AND settings IS NOT NULL AND ${isMapped(deleted)}`
        )
    })
  })
)
