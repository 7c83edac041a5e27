import { type AuditEntry, AuditRepository } from "@atelier/core/audit"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"

/** The columns of an entry. */
export const auditValues = (entry: AuditEntry) => ({
  ...entry,
  diff: JSON.stringify(entry.diff),
  additional_fields: JSON.stringify(entry.additional_fields)
})

export const layer = service(
  AuditRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AuditRepository.of({
      insert: (entry) => run(sql`INSERT INTO audit_logs ${sql.insert(auditValues(entry))}`)
    })
  )
)
