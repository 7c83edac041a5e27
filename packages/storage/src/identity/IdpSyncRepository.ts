import { SqlClient } from "@effect/sql"
import { IdpSyncRepository } from "@atelier/core/identity"
import { Effect, Option, Layer, Schema } from "effect"
import { json, nullable, row, uuid } from "../platform/Row.js"
import { all, first, run } from "../platform/Statement.js"

const stored = row({ organization_id: uuid, settings: json(Schema.Unknown) })
const locked = row({ settings: nullable(json(Schema.Unknown)) })

export const layer = Layer.effect(
  IdpSyncRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const forUpdate = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE`, orElse: () => sql.literal("") })

    return IdpSyncRepository.of({
      find: (kind, organizationIds) =>
        organizationIds.length === 0
          ? Effect.succeed([])
          : all(
              stored,
              sql`SELECT organization_id, settings FROM idp_sync_settings
                WHERE ${sql.in("organization_id", organizationIds)} AND kind = ${kind} AND settings IS NOT NULL`
            ),
      // Whoever writes them first has a row to lock, too
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
        )
    })
  })
)
