import { Context, Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import type { Invalid, NotFound, Forbidden } from "../platform/Errors.js"
import { keptFor } from "../platform/collections/Kept.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { InsightsRepository } from "./InsightsRepository.js"
import { percentile } from "./Percentile.js"
import type { AppUsageReport } from "./UsageReport.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { reportAccess } from "./ReportAccess.js"
import { templateReports } from "./TemplateReports.js"
import { userCounts } from "./UserCounts.js"

/** The bounds of a report as a caller wrote them, and the templates it is about: all without any. */
export interface ReportQuery {
  readonly start_time: string
  readonly end_time: string
  readonly template_ids: ReadonlyArray<Uuid>
}

export interface TemplateReportQuery extends ReportQuery {
  readonly interval: "day" | "week" | undefined
  /** Both without any. */
  readonly sections: ReadonlyArray<"interval_reports" | "report">
}

/** How long counts of the whole deployment look back. */
const trafficWindow = 15 * 60_000

/** The statuses of builds, as statistics of the deployment call them. */
const workspaceStates = {
  pending: ["pending"],
  building: ["starting", "stopping", "deleting"],
  running: ["running"],
  failed: ["failed"],
  stopped: ["stopped"]
} as const

/** How often each value of a parameter was chosen. */
export interface ParameterUsage {
  readonly values: { readonly value: string; readonly count: number }[]
  readonly options?: readonly {
    readonly name: string
    readonly description: string
    readonly value: string
    readonly icon: string
  }[]
  readonly template_ids: ReadonlyArray<Uuid>
  readonly name: string
  readonly type: string
  readonly display_name: string
  readonly description: string
}

/** The use of templates: over the whole period, and in each interval of it, as asked. */
export interface TemplatesUsage {
  readonly report?: {
    readonly start_time: string
    readonly end_time: string
    readonly template_ids: ReadonlyArray<Uuid>
    readonly active_users: number
    readonly apps_usage: ReadonlyArray<AppUsageReport>
    readonly parameters_usage: ReadonlyArray<ParameterUsage>
  }
  readonly interval_reports?: {
    readonly start_time: string
    readonly end_time: string
    readonly template_ids: ReadonlyArray<Uuid>
    readonly interval: "day" | "week"
    readonly active_users: number
  }[]
}

/** The use of workspaces by one user. */
export interface UserUsage {
  readonly template_ids: ReadonlyArray<Uuid>
  readonly seconds: number
  readonly latency_ms: { readonly p50: number; readonly p95: number }
  readonly user_id: Uuid
  readonly username: string
  readonly avatar_url: string
}

/** The use of each user in a range of time; latencies are milliseconds. */
export interface UserReport {
  readonly report: {
    readonly start_time: string
    readonly end_time: string
    readonly template_ids: ReadonlyArray<Uuid>
    readonly users: ReadonlyArray<UserUsage>
  }
}

/** How many users were active on each day. */
export interface DailyUsers {
  readonly entries: { readonly date: string; readonly amount: number }[]
  readonly tz_hour_offset: number
}

/** How many users had each status, on each day. */
export interface UserStatusCounts {
  readonly status_counts: Readonly<Record<string, readonly { readonly date: Timestamp.Timestamp; readonly count: number }[]>>
}

/** Workspaces and sessions of the whole deployment, as they were when they were collected. */
export interface DeploymentStats {
  readonly aggregated_from: Timestamp.Timestamp
  readonly collected_at: Timestamp.Timestamp
  readonly next_update_at: Timestamp.Timestamp
  readonly workspaces: {
    readonly pending: number
    readonly building: number
    readonly running: number
    readonly failed: number
    readonly stopped: number
    readonly connection_latency_ms: { readonly P50: number; readonly P95: number }
    readonly rx_bytes: number
    readonly tx_bytes: number
  }
  readonly session_count: {
    readonly vscode: number
    readonly ssh: number
    readonly jetbrains: number
    readonly reconnecting_pty: number
  }
}

/** The methods of {@link Insights}. */
export interface InsightsService {
  /** How templates are used, by step and on the whole. §C4. */
  readonly templates: (query: TemplateReportQuery) => Effect.Effect<TemplatesUsage, Invalid | NotFound, CurrentActor>

  /** The seconds that each user worked. §C5. */
  readonly userActivity: (query: ReportQuery) => Effect.Effect<UserReport, Invalid | NotFound, CurrentActor>

  /** The latency of each user's connections. §C5. */
  readonly userLatency: (query: ReportQuery) => Effect.Effect<UserReport, Invalid | NotFound, CurrentActor>

  /** The users of each of the last 60 days and of today. `tz_offset` is read after the permission is checked. §C5. */
  readonly daus: (tz_offset: Effect.Effect<number, Invalid>) => Effect.Effect<DailyUsers, Invalid | Forbidden | NotFound, CurrentActor>

  /** The users of a template on each of the last 60 days and today. §C5. */
  readonly templateDaus: (templateId: Uuid, tz_offset: number) => Effect.Effect<DailyUsers, NotFound, CurrentActor>

  /** Users by status at each of the last 61 midnights of a zone. §C5. */
  readonly userStatusCounts: (given: {
    readonly timezone: string
    readonly tz_offset: number
  }) => Effect.Effect<UserStatusCounts, Invalid | Forbidden, CurrentActor>

  /** Counts of the whole deployment, as they were up to half a minute ago. §C5. */
  readonly deploymentStats: () => Effect.Effect<DeploymentStats, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* InsightsRepository
  const templates = yield* TemplateRepository
  const options = yield* DeploymentOptions

  const stats = Effect.gen(function* () {
    const collected_at = yield* Timestamp.now
    const aggregated_from = Timestamp.minus(collected_at, trafficWindow)
    const traffic = yield* repository.traffic(aggregated_from)
    const workspaces = yield* repository.workspaces
    const sum = (statuses: ReadonlyArray<string>) => statuses.reduce((total, status) => total + (workspaces[status] ?? 0), 0)
    return {
      aggregated_from,
      collected_at,
      next_update_at: Timestamp.plus(collected_at, options.agentStatsRefreshInterval),
      workspaces: {
        pending: sum(workspaceStates.pending),
        building: sum(workspaceStates.building),
        running: sum(workspaceStates.running),
        failed: sum(workspaceStates.failed),
        stopped: sum(workspaceStates.stopped),
        connection_latency_ms: { P50: percentile(traffic.latencies, 0.5) ?? -1, P95: percentile(traffic.latencies, 0.95) ?? -1 },
        rx_bytes: traffic.rx_bytes,
        tx_bytes: traffic.tx_bytes
      },
      session_count: {
        vscode: traffic.sessions["vscode"] ?? 0,
        ssh: traffic.sessions["ssh"] ?? 0,
        jetbrains: traffic.sessions["jetbrains"] ?? 0,
        reconnecting_pty: traffic.sessions["reconnecting_pty"] ?? 0
      }
    }
  })
  const cachedStats = yield* keptFor(options.agentStatsRefreshInterval)(stats)

  const { requireStatistics, authorizeTemplates } = reportAccess({ options, templates })

  return {
    ...templateReports({ requireStatistics, authorizeTemplates, repository }),

    ...userCounts({ repository, requireStatistics, authorizeTemplates, templates }),

    deploymentStats: Traced.fn("Insights.deploymentStats")(function* () {
      yield* Access.authorize("read", AccessObjects.bare("deployment_stats"))
      return yield* cachedStats
    })
  }
})

/** How the deployment is used. */
export class Insights extends Context.Tag("@atelier/core/Insights")<Insights, InsightsService>() {
  static readonly layer = standingOn(service(Insights, make))
}
