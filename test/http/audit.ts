/** What the audit log holds, for tests of what is written to it. */
import { SqlClient } from "@effect/sql"
import { AuditDiff, AuditEntry } from "@atelier/core/audit"
import { Effect, Schema } from "effect"

const Stored = Schema.Array(
  Schema.Struct({
    ...AuditEntry.fields,
    diff: Schema.parseJson(AuditDiff),
    additional_fields: Schema.parseJson(AuditEntry.fields.additional_fields)
  })
)

/** The entries with these values, in the order they were written. */
export const auditEntries = (
  where: Partial<Pick<AuditEntry, "resource_id" | "resource_type" | "user_id" | "user_agent">>
): Effect.Effect<ReadonlyArray<AuditEntry>, unknown> =>
  Effect.gen(function* () {
    const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
    const conditions = Object.entries(where).map(([column, value]) => sql`${sql(column)} = ${value}`)
    const rows = yield* sql`SELECT * FROM audit_logs WHERE ${sql.and(conditions)} ORDER BY time, id`
    return yield* Schema.decodeUnknown(Stored)(rows)
  })
