import { Context, type Effect } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { AuditAction, AuditedType } from "../audit/AuditEntry.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { BuildReason } from "../provisioning/jobs/BuildReason.js"
import type { FoundEntry } from "./AuditLog.js"

/** The filter of the audit log. Absent fields do not restrict it. */
export interface AuditFilter {
  readonly resource_type?: AuditedType | undefined
  readonly resource_id?: Uuid | undefined
  readonly resource_target?: string | undefined
  readonly action?: AuditAction | undefined
  readonly user_id?: Uuid | undefined
  /** In lower case; of users that are not deleted. */
  readonly username?: string | undefined
  /** In lower case. */
  readonly email?: string | undefined
  readonly organization_id?: Uuid | undefined
  readonly build_reason?: BuildReason | undefined
  readonly request_id?: Uuid | undefined
  /** Both bounds belong to what they allow. */
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

export interface AuditQuery {
  /** Of type `audit_log` and action `read`. */
  readonly readable: AccessPredicate
  readonly filter: AuditFilter
}

/** Port: reads the audit log. */
export class AuditLogRepository extends Context.Tag("@atelier/core/AuditLogRepository")<
  AuditLogRepository,
  {
    /** Entries, newest first, in one statement however many they are. */
    readonly page: (query: AuditQuery & { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<FoundEntry>>
    /** How many entries there are, counted up to a maximum. */
    readonly count: (query: AuditQuery, maximum: number) => Effect.Effect<number>
  }
>() {}
