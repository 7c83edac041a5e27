/** The weekly report of builds that have failed. notifications-audit-insights.md §A2. */
import { Array as Arr, Duration, Effect, Option } from "effect"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import { Notifications } from "../../notifications/Notifications.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type FailedBuild, FailedBuildRepository, type FailingTemplate } from "./FailedBuildRepository.js"

/** The time that a report is about, and until the next one. */
const period = Duration.days(7)

const name = "failed_builds_report"

/** Builds of a version that are listed; all are counted. */
const listed = 10

const reader = "template-admin"

const versionsOf = (builds: ReadonlyArray<FailedBuild>) =>
  Object.values(Arr.groupBy(builds, ({ template_version_id }) => template_version_id)).map((ofVersion) => ({
    template_version_name: ofVersion[0].template_version_name,
    failed_count: ofVersion[0].failed_count,
    failed_builds: ofVersion.map(({ build_number, workspace_id, workspace_name, workspace_owner_username }) => ({
      workspace_owner_username,
      workspace_name,
      workspace_id,
      build_number
    }))
  }))

/** What a report tells of some templates. */
export const reportOf = (templates: ReadonlyArray<FailingTemplate>, builds: ReadonlyArray<FailedBuild>) => ({
  report_frequency: "week",
  templates: templates.map(({ display_name, failed_builds, id, name, total_builds }) => ({
    name,
    display_name: display_name || name,
    failed_builds,
    total_builds,
    versions: versionsOf(builds.filter(({ template_id }) => template_id === id))
  }))
})

const report = (now: Timestamp.Timestamp) =>
  Effect.gen(function* () {
    const repository = yield* FailedBuildRepository
    const notifications = yield* Notifications
    const since = Timestamp.minus(now, period)
    const templates = yield* repository.templatesSince(since)
    if (templates.length === 0) return
    const builds = yield* repository.buildsSince(since, listed)
    const members = yield* repository.membersWithRole(reader, Arr.dedupe(templates.map(({ organization_id }) => organization_id)))
    // Members of the same organizations get the same report
    const readers = Arr.groupBy(Object.values(Arr.groupBy(members, ({ user_id }) => user_id)), (memberships) =>
      memberships
        .map(({ organization_id }) => organization_id)
        .toSorted()
        .join()
    )
    const tell = (alike: Arr.NonEmptyReadonlyArray<Arr.NonEmptyReadonlyArray<(typeof members)[number]>>) => {
      const organizations = new Set<Uuid>(alike[0].map(({ organization_id }) => organization_id))
      const told = templates.filter(({ organization_id }) => organizations.has(organization_id))
      return notifications.raise(notificationEvents.buildsFailedReport, {
        to: { users: alike.map(([{ user_id }]) => user_id) },
        labels: {},
        data: reportOf(told, builds),
        targets: [...told.map(({ id }) => id), ...organizations],
        created_by: "report_generator"
      })
    }
    // Each in a transaction within that of all: a report that cannot be stored does not keep the others
    yield* Background.each(name, Object.values(readers), (alike) => transaction(tell(alike)))
  })

/** Tells template administrators each week of the failed builds of their organizations. The first run begins the first week. */
export const failedBuildsReport = {
  name,
  every: Duration.minutes(15),
  run: transaction(
    Effect.gen(function* () {
      const repository = yield* FailedBuildRepository
      const now = yield* Timestamp.now
      const last = Option.getOrUndefined(yield* repository.reportedAt)
      if (last !== undefined) {
        if (Timestamp.plus(last, period) > now) return
        yield* report(now)
      }
      yield* repository.setReportedAt(now)
    })
  )
}
