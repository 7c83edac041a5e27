import { Context, type Effect } from "effect"
import type { Timestamp } from "../platform/time/Timestamp.js"

/** Deletes rows of before an instant, the oldest first and at most `limit`. Returns how many. */
export type Deletion = (before: Timestamp, limit: number) => Effect.Effect<number>

/** The rows that no other repository deletes by age. */
export class RetentionRepository extends Context.Tag("@atelier/core/RetentionRepository")<
  RetentionRepository,
  {
    /** Audit entries, except those of connections. */
    readonly auditEntries: Deletion
    /** Audit entries of connections, from before there was a connection log. */
    readonly connectionAuditEntries: Deletion
    readonly connectionEntries: Deletion
    /**
     * Lines of agents that were last connected before an instant, or were made before it and never connected. Agents of a workspace's latest
     * build keep theirs. In no order.
     */
    readonly agentLogLines: Deletion
    readonly agentReports: Deletion
    /** Spend by its day. */
    readonly spend: Deletion
  }
>() {}
