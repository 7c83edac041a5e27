import { SqlClient } from "@effect/sql"
import { RightsRepository } from "@atelier/core/organizations"
import { Effect, Layer } from "effect"
import { readRights, selectRights } from "../identity/Rights.js"
import { row, text } from "../platform/Row.js"
import { first } from "../platform/Statement.js"

const stored = row({ rights: text() })

export const layer = Layer.effect(
  RightsRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const locked = sql.onDialectOrElse({ pg: () => sql`FOR SHARE OF u`, orElse: () => sql.literal("") })
    return RightsRepository.of({
      hold: (userId) =>
        first(
          (from) => readRights(stored(from).rights),
          sql`SELECT ${selectRights(sql)} FROM users u WHERE u.id = ${userId} AND NOT u.deleted AND u.status <> 'suspended' ${locked}`
        )
    })
  })
)
