import { Context, type Effect } from "effect"
import type { AuditEntry } from "./AuditEntry.js"

/** Port: writes the audit log. */
export class AuditRepository extends Context.Tag("@atelier/core/AuditRepository")<
  AuditRepository,
  { readonly insert: (entry: AuditEntry) => Effect.Effect<void> }
>() {}
