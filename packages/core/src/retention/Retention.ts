import { Clock, Duration, Effect, Exit, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { ResourceType } from "../access/Resource.js"
import { SystemActor } from "../access/actors/SystemActor.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { ApiKeyRepository } from "../identity/sessions/ApiKeyRepository.js"
import { InsightsRepository } from "../insights/InsightsRepository.js"
import { oldestMissed } from "../insights/MissedUsage.js"
import { NotificationRepository } from "../notifications/NotificationRepository.js"
import { untilNotFull } from "../platform/background/Batches.js"
import * as Measure from "../platform/Measure.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { type Deletion, RetentionRepository } from "./RetentionRepository.js"

/** Rows of one statement, at most. */
export const batchSize = 1_000

/** How long messages are kept that have been delivered or given up. What they told stays in the inbox. */
const messagesKept = Duration.days(7)

/** How long audit entries of connections are kept. */
const connectionAuditKept = Duration.days(90)

/** How long reports of agents are kept that are not needed for usage. */
const reportsKept = Duration.days(180)

/** How long reports are kept after the newest usage, which is computed again from an hour before it. */
const reportsKeptAfterUsage = Duration.days(1)

const iterations = Measure.histogram(
  "dbpurge_iteration_duration_seconds",
  "How long a run took that deletes old rows.",
  [0.01, 0.1, 1, 5, 10, 30, 60, 300, 600],
  ["success"]
)

const purged = Measure.counter("dbpurge_records_purged_total", "Old rows that were deleted.", ["record_type"])

/** Data that the service deletes when it is old. */
interface Rule {
  readonly name: string
  readonly object: ResourceType
  /** Older rows are deleted; undefined keeps all. */
  readonly before: Timestamp.Timestamp | undefined
  readonly delete: Deletion
}

/** The rules at an instant. notifications-audit-insights.md Part D, deployment.md §3.6. */
const rulesAt = (now: Timestamp.Timestamp) =>
  Effect.gen(function* () {
    const options = yield* DeploymentOptions
    const repository = yield* RetentionRepository
    const keys = yield* ApiKeyRepository
    const messages = yield* NotificationRepository
    // Before the half hours that are missing: a run of the roll-up notes one before it stores the usage of a later one
    const newestUsage = yield* (yield* InsightsRepository).newestUsage
    const missed = yield* oldestMissed

    const ago = (kept: Duration.Duration) => Timestamp.minus(now, kept)
    /** For options: zero keeps rows for ever. */
    const optional = (kept: Duration.Duration) => (Duration.equals(kept, Duration.zero) ? undefined : ago(kept))
    const later = (one: Timestamp.Timestamp, other: Timestamp.Timestamp) => (one > other ? one : other)
    const earlier = (one: Timestamp.Timestamp, other: Timestamp.Timestamp) => (one < other ? one : other)
    /** The spend of this month counts against limits, whatever the option says. */
    const month = Timestamp.fromMillis(Date.parse(`${now.slice(0, 7)}-01T00:00:00Z`))
    const spendBefore = optional(options.aiGatewayRetention)
    const reportsUsed = Option.match(newestUsage, {
      onNone: () => ago(reportsKept),
      onSome: (usage) => later(ago(reportsKept), Timestamp.minus(usage, reportsKeptAfterUsage))
    })
    const reportsBefore = earlier(
      reportsUsed,
      Option.getOrElse(missed, () => reportsUsed)
    )

    return [
      { name: "api_keys", object: "api_key", before: optional(options.apiKeysRetention), delete: keys.deleteExpired },
      { name: "audit_logs", object: "system", before: optional(options.auditLogsRetention), delete: repository.auditEntries },
      { name: "audit_log_connections", object: "system", before: ago(connectionAuditKept), delete: repository.connectionAuditEntries },
      {
        name: "connection_logs",
        object: "system",
        before: optional(options.connectionLogsRetention),
        delete: repository.connectionEntries
      },
      {
        name: "workspace_agent_logs",
        object: "system",
        before: optional(options.workspaceAgentLogsRetention),
        delete: repository.agentLogLines
      },
      { name: "workspace_agent_stats", object: "system", before: reportsBefore, delete: repository.agentReports },
      {
        name: "ai_spend",
        object: "aibridge_interception",
        before: spendBefore === undefined || spendBefore < month ? spendBefore : month,
        delete: repository.spend
      },
      { name: "notification_messages", object: "notification_message", before: ago(messagesKept), delete: messages.purge }
    ] satisfies ReadonlyArray<Rule>
  })

/** Deletes batch by batch. */
const purge = ({ before, delete: deletion, name, object }: Rule) =>
  Effect.gen(function* () {
    if (before === undefined) return
    yield* Effect.orDie(Access.authorize("delete", AccessObjects.bare(object)))
    const batch = (limit: number) => Effect.tap(deletion(before, limit), (count) => purged(name).update(count))
    const deleted = yield* untilNotFull(batchSize, batch)
    if (deleted > 0) yield* Effect.logDebug(`deleted ${deleted} rows of ${name}`)
  })

/** Deletes old rows. A kind of rows that cannot be deleted keeps no other kind from it. */
export const retentionWorker = {
  name: "retention",
  every: Duration.minutes(10),
  run: Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    const rules = yield* rulesAt(yield* Timestamp.now)
    const exits = yield* Effect.forEach(rules, (rule) => Effect.exit(purge(rule)))
    iterations(String(exits.every(Exit.isSuccess))).update(((yield* Clock.currentTimeMillis) - begun) / 1000)
    yield* Option.getOrElse(Exit.all(exits), () => Exit.void)
  }).pipe(Access.actingAs(SystemActor.dbpurge))
}
