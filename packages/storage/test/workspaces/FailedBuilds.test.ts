/** The weekly report of failed builds. notifications-audit-insights.md §A2. */
import { UserRepository } from "@atelier/core/identity"
import { notificationEvents, Notifications } from "@atelier/core/notifications"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid, Worker } from "@atelier/core/platform"
import { failedBuildsReport } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { type Duration, Effect, Layer, Logger, TestClock } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { poisoned } from "../../../../test/store/poison.js"
import { storeRow } from "../../../../test/store/schema.js"
import { runtime } from "../../../../test/store/services.js"
import { storedBuild, storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

const failed = { error: "it broke" }

const anOrganizationStored = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* (yield* OrganizationRepository).insert(organization)
  return organization
})

const aUserStored = (rbac_roles: ReadonlyArray<string> = [], memberOf: ReadonlyArray<Uuid.Uuid> = []) =>
  Effect.gen(function* () {
    const user = yield* aUser({ rbac_roles })
    yield* (yield* UserRepository).insert(user, null)
    for (const organization_id of memberOf) yield* storeRow("organization_members", { user_id: user.id, organization_id })
    return user
  })

/** The reports that were queued for a user. */
const reportsTo = (userId: Uuid.Uuid) =>
  Effect.flatMap(Statements, (sql) =>
    Effect.map(
      sql<{ readonly payload: unknown; readonly targets: unknown }>`SELECT payload, targets FROM notification_messages
        WHERE user_id = ${userId} AND template_id = ${notificationEvents.buildsFailedReport.id} ORDER BY created_at, id`,
      (rows) => rows.map(({ payload, targets }) => ({ payload: JSON.parse(String(payload)), targets: JSON.parse(String(targets)) }))
    )
  )

const after = (duration: Duration.DurationInput) => Effect.zipRight(TestClock.adjust(duration), Worker.runOnce(failedBuildsReport))

for (const [name, database] of databases) {
  const services = Notifications.layer.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(services)(`the report of failed builds on ${name}`, (it) => {
    it.effect("tells each template administrator once a week of the failures in its organizations", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* anOrganizationStored, yield* anOrganizationStored]
        const ofBoth = yield* aUserStored(["template-admin"], [one.id, other.id])
        const ofOne = yield* aUserStored(["template-admin"], [one.id])
        const outside = yield* aUserStored(["template-admin"])
        const owner = yield* aUserStored(["owner"], [one.id, other.id])
        const everyone = [ofBoth, ofOne, outside, owner]
        const counts = Effect.forEach(everyone, ({ id }) => Effect.map(reportsTo(id), (reports) => reports.length))

        const template = yield* storedTemplate({ organization_id: one.id, created_by: owner.id, name: "a" }, { name: "v1" })
        const { workspace } = yield* storedWorkspace(template, owner.id, { job: failed })
        const calm = yield* storedTemplate({ organization_id: one.id, created_by: owner.id, name: "calm" })
        yield* storedWorkspace(calm, owner.id)

        // The first run begins the week
        yield* after(0)
        yield* after("6 days")
        expect(yield* counts).toStrictEqual([0, 0, 0, 0])

        const version = { template_version_id: template.active_version_id }
        const now = yield* Timestamp.now
        for (let build_number = 2; build_number <= 13; build_number++) {
          yield* storedBuild(workspace, { ...version, build_number }, failed)
        }
        yield* storedBuild(workspace, { ...version, build_number: 14 })
        yield* storedBuild(workspace, { ...version, build_number: 15 }, { completed_at: null })
        yield* storedBuild(workspace, { ...version, build_number: 16 }, { canceled_at: now })
        const elsewhere = yield* storedTemplate(
          { organization_id: other.id, created_by: owner.id, name: "b", display_name: "Bee" },
          { name: "w1" }
        )
        const second = yield* storedWorkspace(elsewhere, owner.id, { job: failed })

        yield* after("25 hours")
        expect(yield* counts).toStrictEqual([1, 1, 0, 0])
        const [report] = yield* reportsTo(ofOne.id)
        const listed = (workspace_id: Uuid.Uuid, workspace_name: string, build_number: number) => ({
          workspace_owner_username: owner.username,
          workspace_name,
          workspace_id,
          build_number
        })
        const ofTemplate = {
          name: "a",
          display_name: "a",
          failed_builds: 12,
          total_builds: 14,
          versions: [
            {
              template_version_name: "v1",
              failed_count: 12,
              failed_builds: [13, 12, 11, 10, 9, 8, 7, 6, 5, 4].map((number) => listed(workspace.id, workspace.name, number))
            }
          ]
        }
        expect(report?.payload.data).toStrictEqual({ report_frequency: "week", templates: [ofTemplate] })
        expect(report?.targets).toStrictEqual([template.id, one.id])
        const filter = Array.from({ length: 10 }, () => `id%3A${workspace.id}`).join("+")
        expect(report?.payload.actions[0].url).toMatch(new RegExp(`/workspaces\\?filter=${filter.replaceAll("+", "\\+")}$`))

        const [wider] = yield* reportsTo(ofBoth.id)
        const ofOther = {
          name: "b",
          display_name: "Bee",
          failed_builds: 1,
          total_builds: 1,
          versions: [
            { template_version_name: "w1", failed_count: 1, failed_builds: [listed(second.workspace.id, second.workspace.name, 1)] }
          ]
        }
        expect(wider?.payload.data.templates).toStrictEqual([ofTemplate, ofOther])

        // A week without failures has no report
        yield* after("6 days")
        yield* after("8 days")
        expect(yield* counts).toStrictEqual([1, 1, 0, 0])
      })
    )

    it.effect("reaches the others if the report of one administrator cannot be stored", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* anOrganizationStored, yield* anOrganizationStored]
        const [poison, told] = [yield* aUserStored(["template-admin"], [one.id]), yield* aUserStored(["template-admin"], [other.id])]
        yield* after("8 days")
        yield* TestClock.adjust("6 days")
        for (const { id } of [one, other]) {
          yield* storedWorkspace(yield* storedTemplate({ organization_id: id, created_by: told.id, name: "a" }), told.id, { job: failed })
        }
        yield* Effect.scoped(Effect.zipRight(poisoned("notification_messages", "user_id", poison.id), after("25 hours")))
        expect([(yield* reportsTo(poison.id)).length, (yield* reportsTo(told.id)).length]).toStrictEqual([0, 1])
        yield* after("1 hour")
        expect(yield* reportsTo(told.id)).toHaveLength(1)
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
  })
}
