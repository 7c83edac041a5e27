import { AuditRepository } from "@atelier/core/audit"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { run } from "../platform/Statement.js"

export const layer = Layer.effect(
  AuditRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AuditRepository.of({
      insert: (entry) =>
        run(
          sql`INSERT INTO audit_logs ${sql.insert({
            ...entry,
            diff: JSON.stringify(entry.diff),
            additional_fields: JSON.stringify(entry.additional_fields)
          })}`
        )
    })
  )
)
