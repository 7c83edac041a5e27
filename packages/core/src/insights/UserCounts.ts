import { Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { Invalid, NotFound } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"
import type { InsightsRepository } from "./InsightsRepository.js"
import { StatusCounts } from "./StatusCounts.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { ReportAccess } from "./ReportAccess.js"
import { hour, day, days, formatIn, offsetIn, midnightOf } from "./ReportRange.js"

interface Needs extends Pick<ReportAccess, "requireStatistics" | "authorizeTemplates"> {
  readonly repository: InsightsRepository["Type"]
  readonly templates: TemplateRepository["Type"]
}

/** Counts of users by day. */
export const userCounts = ({ repository, requireStatistics, authorizeTemplates, templates }: Needs) => {
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

  return {
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
    })
  }
}
