import { Effect, Stream } from "effect"
import { Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { plainText } from "../templates/versions/Markdown.js"
import type { ParameterUse, InsightsRepository } from "./InsightsRepository.js"
import { intervals, writtenAt } from "./InsightsRange.js"
import { Active, AppsReport, UsersReport } from "./UsageReport.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { ReportAccess } from "./ReportAccess.js"
import type { ReportQuery, TemplateReportQuery } from "./Insights.js"
import { isLong, maximumSteps, rangeOf, spanOf, wanted } from "./ReportRange.js"

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

interface Needs extends Pick<ReportAccess, "requireStatistics" | "authorizeTemplates"> {
  readonly repository: InsightsRepository["Type"]
}

/** Reports on the use of templates: their apps, their parameters and their users. */
export const templateReports = ({ requireStatistics, authorizeTemplates, repository }: Needs) => {
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

  return {
    templates: Traced.fn("Insights.templates")(function* (query: TemplateReportQuery) {
      const range = yield* rangeOf(query)
      if (query.interval !== undefined && isLong(range, query.interval)) {
        return yield* Invalid.field("start_time", `must be at most ${maximumSteps} steps before end_time`)
      }
      const steps = query.interval === undefined ? [] : intervals(range, query.interval)
      if (steps === undefined) return yield* new Invalid({ message: "The time span must be whole weeks, or at most a day shorter." })
      yield* requireStatistics
      yield* authorizeTemplates(query.template_ids)
      const has = (section: "interval_reports" | "report") => query.sections.length === 0 || query.sections.includes(section)
      const ids = wanted(query.template_ids)
      const span = spanOf(range)
      const report = new AppsReport(has("report") ? yield* repository.appDefinitions(span, ids) : [])
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
    })
  }
}
