import { type AuditEntry, AuditRepository } from "@atelier/core/audit"
import { Effect } from "effect"
import { run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

/** The columns of an entry. */
export const auditValues = (entry: AuditEntry) => ({
  ...entry,
  diff: JSON.stringify(entry.diff),
  additional_fields: JSON.stringify(entry.additional_fields)
})

/** Types of PostgreSQL of the columns of an entry. */
export const auditTypes = {
  id: "uuid",
  time: "timestamptz(3)",
  user_id: "uuid",
  organization_id: "uuid",
  ip: "text",
  user_agent: "text",
  resource_type: "text",
  resource_id: "uuid",
  resource_target: "text",
  action: "text",
  diff: "jsonb",
  status_code: "integer",
  additional_fields: "jsonb",
  request_id: "uuid"
} as const satisfies Record<keyof AuditEntry, string>

export const layer = service(
  AuditRepository,
  Effect.map(Statements, (sql) =>
    AuditRepository.of({
      insert: (entry) => run(sql`INSERT INTO audit_logs ${sql.insert(auditValues(entry))}`)
    })
  )
)
