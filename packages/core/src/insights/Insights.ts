import { Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { Invalid, NotFound, type Forbidden } from "../platform/Errors.js"
import { keptFor } from "../platform/collections/Kept.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { plainText } from "../templates/versions/Markdown.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { type ParameterUse, InsightsRepository, type Span } from "./InsightsRepository.js"
import { type InsightsRange, intervals, parseRange, writtenAt } from "./InsightsRange.js"
import { percentile } from "./Percentile.js"
import { StatusCounts } from "./StatusCounts.js"
import { Active, AppsReport, UsersReport, type AppUsageReport } from "./UsageReport.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"

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

const hour = 3_600_000
const day = 24 * hour

/** Days that daily counts go back. */
const days = 60

const off = new NotFound({ resource: "insights", message: "Usage statistics are turned off, so there are no insights." })

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

/** Groups the values of parameters, in the order of what they are grouped by. §C4. */
const parametersUsage = (uses: ReadonlyArray<ParameterUse>) => {
  const groups = new Map<string, { readonly of: ParameterUse; readonly templates: Set<Uuid>; readonly values: Map<string, number> }>()
  for (const use of uses) {
    const key = JSON.stringify([use.name, use.type, use.display_name, use.description, use.options])
    const group = groups.get(key) ?? { of: use, templates: new Set<Uuid>(), values: new Map<string, number>() }
    groups.set(key, group)
    group.templates.add(use.template_id)
    group.values.set(use.value, (group.values.get(use.value) ?? 0) + use.count)
  }
  return Array.from(groups)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { of, templates, values }]) => ({
      template_ids: Array.from(templates).toSorted(),
      name: of.name,
      type: of.type,
      display_name: of.display_name,
      description: plainText(of.description),
      ...(of.options.length === 0 ? {} : { options: of.options }),
      values: Array.from(values, ([value, count]) => ({ value, count })).toSorted((one, other) => (one.value < other.value ? -1 : 1))
    }))
}

/** Milliseconds that a zone's clock is ahead of UTC at an instant. */
const offsetIn = (format: Intl.DateTimeFormat, millis: number): number => {
  const parts = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
  const { day = 1, hour = 0, minute = 0, month = 1, second = 0, year = 1970 } = parts
  return Date.UTC(year, month - 1, day, hour % 24, minute, second) - Math.floor(millis / 1000) * 1000
}

/** The midnight of a zone that a day begins with. `local` counts milliseconds of the zone's clock. */
const midnightOf = (format: Intl.DateTimeFormat, local: number): number => {
  const guess = local - offsetIn(format, local)
  return local - offsetIn(format, guess)
}

const formatIn = (timeZone: string): Intl.DateTimeFormat | undefined => {
  // Zones of the database have a slash; a caller may not name the process's own zone
  if (timeZone !== "UTC" && !/^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+$/.test(timeZone)) return undefined
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric"
    })
  } catch {
    return undefined
  }
}

/** The methods of {@link Insights}. */
export interface InsightsService {
  /** How templates are used, by step and on the whole. §C4. */
  readonly templates: (query: TemplateReportQuery) => Effect.Effect<
    {
      readonly report?: {
        readonly start_time: string
        readonly end_time: string
        readonly template_ids: ReadonlyArray<Uuid>
        readonly active_users: number
        readonly apps_usage: ReadonlyArray<AppUsageReport>
        readonly parameters_usage: {
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
        }[]
      }
      readonly interval_reports?: {
        readonly start_time: string
        readonly end_time: string
        readonly template_ids: ReadonlyArray<Uuid>
        readonly interval: "day" | "week"
        readonly active_users: number
      }[]
    },
    Invalid | NotFound,
    CurrentActor
  >

  /** The seconds that each user worked. §C5. */
  readonly userActivity: (query: ReportQuery) => Effect.Effect<
    {
      readonly report: {
        readonly start_time: string
        readonly end_time: string
        readonly template_ids: ReadonlyArray<Uuid>
        readonly users: {
          readonly template_ids: ReadonlyArray<Uuid>
          readonly seconds: number
          readonly latency_ms: { readonly p50: number; readonly p95: number }
          readonly user_id: Uuid
          readonly username: string
          readonly avatar_url: string
        }[]
      }
    },
    Invalid | NotFound,
    CurrentActor
  >

  /** The latency of each user's connections. §C5. */
  readonly userLatency: (query: ReportQuery) => Effect.Effect<
    {
      readonly report: {
        readonly start_time: string
        readonly end_time: string
        readonly template_ids: ReadonlyArray<Uuid>
        readonly users: {
          readonly template_ids: ReadonlyArray<Uuid>
          readonly seconds: number
          readonly latency_ms: { readonly p50: number; readonly p95: number }
          readonly user_id: Uuid
          readonly username: string
          readonly avatar_url: string
        }[]
      }
    },
    Invalid | NotFound,
    CurrentActor
  >

  /** The users of each of the last 60 days and of today. `tz_offset` is read after the permission is checked. §C5. */
  readonly daus: (
    tz_offset: Effect.Effect<number, Invalid>
  ) => Effect.Effect<
    { readonly entries: { readonly date: string; readonly amount: number }[]; readonly tz_hour_offset: number },
    Invalid | Forbidden | NotFound,
    CurrentActor
  >

  /** The users of a template on each of the last 60 days and today. §C5. */
  readonly templateDaus: (
    templateId: Uuid,
    tz_offset: number
  ) => Effect.Effect<
    { readonly entries: { readonly date: string; readonly amount: number }[]; readonly tz_hour_offset: number },
    NotFound,
    CurrentActor
  >

  /** Users by status at each of the last 61 midnights of a zone. §C5. */
  readonly userStatusCounts: (given: {
    readonly timezone: string
    readonly tz_offset: number
  }) => Effect.Effect<
    { readonly status_counts: Readonly<Record<string, readonly { readonly date: Timestamp.Timestamp; readonly count: number }[]>> },
    Invalid | Forbidden,
    CurrentActor
  >

  /** Counts of the whole deployment, as they were up to half a minute ago. §C5. */
  readonly deploymentStats: () => Effect.Effect<
    {
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
    },
    Forbidden,
    CurrentActor
  >
}

const make = Effect.gen(function* () {
  const repository = yield* InsightsRepository
  const templates = yield* TemplateRepository
  const options = yield* DeploymentOptions

  const requireStatistics = options.statsCollectionUsageStatsEnable ? Effect.void : off

  /** Fails with `NotFound` unless the actor may see insights of all templates, or of each that is named. §C3. */
  const authorizeTemplates = (ids: ReadonlyArray<Uuid>) =>
    Effect.gen(function* () {
      if (yield* Access.can("view_insights", AccessObjects.bare("template"))) return
      if (ids.length === 0) return yield* new NotFound({ resource: "template" })
      for (const id of ids) {
        const template = Option.getOrUndefined(yield* templates.byId(id))
        if (template === undefined) return yield* new NotFound({ resource: "template" })
        yield* Access.authorizeOrHide("view_insights", AccessObjects.template(template))
      }
    })

  const rangeOf = ({ end_time, start_time }: ReportQuery) =>
    Effect.flatMap(Timestamp.now, (now) => parseRange(start_time, end_time, Timestamp.toMillis(now)))

  const spanOf = ({ end, start }: InsightsRange): Span => ({
    from: Timestamp.fromMillis(start.millis),
    to: Timestamp.fromMillis(end.millis)
  })

  const wanted = (ids: ReadonlyArray<Uuid>) => (ids.length === 0 ? undefined : ids)

  /** The use of each user, with its name. */
  const usersReport = (query: ReportQuery) =>
    Effect.gen(function* () {
      const range = yield* rangeOf(query)
      yield* requireStatistics
      yield* authorizeTemplates(query.template_ids)
      const report = new UsersReport()
      const usage = repository.usage(spanOf(range), wanted(query.template_ids))
      yield* Stream.runForEach(usage, (row) => Effect.sync(() => report.add(row)))
      const users = report.report
      const named = new Map((yield* repository.users(users.map(({ user_id }) => user_id))).map((user) => [user.id, user]))
      return {
        start_time: range.start.text,
        end_time: range.end.text,
        template_ids: report.template_ids,
        users: users.flatMap(({ user_id, ...use }) => {
          const user = named.get(user_id)
          return user === undefined ? [] : [{ user_id, username: user.username, avatar_url: user.avatar_url, ...use }]
        })
      }
    })

  /** Active users of each day, cut at midnight of an offset. */
  const dailyUsers = (tz_offset: number, templateId: Uuid | undefined) =>
    Effect.gen(function* () {
      const now = Timestamp.toMillis(yield* Timestamp.now)
      const nextHour = (Math.floor(now / hour) + 1) * hour
      const offset = tz_offset * hour
      const today = Math.floor((nextHour + offset) / day) * day
      const starts = Array.from({ length: days + 1 }, (_, index) => today - (days - index) * day)
      const spans = starts
        .map((start) => ({ from: start - offset, to: Math.min(start + day - offset, nextHour) }))
        .filter(({ from, to }) => to > from)
      const amounts = yield* repository.activeUsers(
        spans.map(({ from, to }) => ({ from: Timestamp.fromMillis(from), to: Timestamp.fromMillis(to) })),
        templateId
      )
      return {
        entries: spans.map(({ from }, index) => ({
          date: new Date(from + offset).toISOString().slice(0, 10),
          amount: amounts[index] ?? 0
        })),
        tz_hour_offset: tz_offset
      }
    })

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

  return {
    templates: Traced.fn("Insights.templates")(function* (query: TemplateReportQuery) {
      const range = yield* rangeOf(query)
      const steps = query.interval === undefined ? [] : intervals(range, query.interval)
      if (steps === undefined) return yield* new Invalid({ message: "The time span must be whole weeks, or at most a day shorter." })
      yield* requireStatistics
      yield* authorizeTemplates(query.template_ids)
      const has = (section: "interval_reports" | "report") => query.sections.length === 0 || query.sections.includes(section)
      const ids = wanted(query.template_ids)
      const span = spanOf(range)
      const report = new AppsReport(has("report") ? yield* repository.appDefinitions(ids) : [])
      const actives = steps.map((step) => ({ ...step, active: new Active() }))
      let current = 0
      yield* Stream.runForEach(repository.usage(span, ids), (row) =>
        Effect.sync(() => {
          report.add(row)
          const [start, end] = [Timestamp.toMillis(row.start_time), Timestamp.toMillis(row.end_time)]
          while (current < actives.length && start >= (actives[current]?.to ?? 0)) current++
          const step = actives[current]
          if (step !== undefined && start >= step.from && end <= step.to) step.active.add(row)
        })
      )
      const interval_reports = actives.map(({ active, from, to }) => ({
        start_time: writtenAt(from, range.start),
        end_time: writtenAt(to, range.start),
        template_ids: active.template_ids,
        interval: query.interval ?? "day",
        active_users: active.users.size
      }))
      return {
        ...(has("interval_reports") && interval_reports.length > 0 ? { interval_reports } : {}),
        ...(has("report")
          ? {
              report: {
                start_time: range.start.text,
                end_time: range.end.text,
                template_ids: report.active.template_ids,
                active_users: report.active.users.size,
                apps_usage: report.apps_usage,
                parameters_usage: parametersUsage(yield* repository.parameterUses(span, ids))
              }
            }
          : {})
      }
    }),

    userActivity: Traced.fn("Insights.userActivity")(function* (query: ReportQuery) {
      return { report: yield* usersReport(query) }
    }),

    userLatency: Traced.fn("Insights.userLatency")(function* (query: ReportQuery) {
      return { report: yield* usersReport(query) }
    }),

    daus: Traced.fn("Insights.daus")(function* (tz_offset: Effect.Effect<number, Invalid>) {
      yield* Access.authorize("read", AccessObjects.bare("deployment_config"))
      const offset = yield* tz_offset
      yield* requireStatistics
      yield* authorizeTemplates([])
      return yield* dailyUsers(offset, undefined)
    }),

    templateDaus: Traced.fn("Insights.templateDaus")(function* (templateId: Uuid, tz_offset: number) {
      const template = Option.getOrUndefined(yield* templates.byId(templateId))
      if (template === undefined || template.deleted) return yield* new NotFound({ resource: "template" })
      yield* Access.readable(AccessObjects.template(template))
      yield* Access.authorizeOrHide("view_insights", AccessObjects.template(template))
      return yield* dailyUsers(tz_offset, templateId)
    }),

    userStatusCounts: Traced.fn("Insights.userStatusCounts")(function* (given: { readonly timezone: string; readonly tz_offset: number }) {
      const { timezone, tz_offset } = given
      if (timezone !== "" && tz_offset !== 0) return yield* Invalid.field("tz_offset", "cannot be given together with timezone")
      // The names of fixed offsets count to the west
      const fixed = tz_offset === 0 ? "UTC" : `Etc/GMT${tz_offset > 0 ? "-" : "+"}${Math.abs(tz_offset)}`
      const format = formatIn(timezone === "" ? fixed : timezone)
      if (format === undefined) return yield* Invalid.field(timezone === "" ? "tz_offset" : "timezone", "is no time zone")
      yield* Access.authorize("read", AccessObjects.bare("user"))
      const now = Timestamp.toMillis(yield* Timestamp.now)
      const nextHour = (Math.floor(now / hour) + 1) * hour
      const today = Math.floor((nextHour + offsetIn(format, nextHour)) / day) * day
      const instants = Array.from({ length: days + 1 }, (_, index) =>
        Timestamp.fromMillis(midnightOf(format, today - (days - index) * day))
      )
      const counts = new StatusCounts(instants)
      // A status that occurred since the last midnight has a series too
      yield* Stream.runForEach(repository.statusChanges(Timestamp.fromMillis(now)), (change) => Effect.sync(() => counts.add(change)))
      return { status_counts: counts.counts }
    }),

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
