import { ActivityReports } from "@atelier/core/agents"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { workspaceActivity, WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

for (const [name, database] of databases) {
  const activity = Layer.fresh(workspaceActivity)
  layer(Layer.merge(database, runtime))(`the use of workspaces on ${name}`, (it) => {
    it.effect("is written once a minute, with the time of writing", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const owner = yield* aUser()
        const repository = yield* WorkspaceRepository
        yield* (yield* OrganizationRepository).insert(organization)
        yield* (yield* UserRepository).insert(owner, null)
        const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.id })
        const { workspace } = yield* storedWorkspace(template, owner.id)
        const lastUsed = Effect.map(Effect.flatten(repository.byId(workspace.id)), ({ last_used_at }) => last_used_at)
        const { markUsed } = yield* ActivityReports

        yield* TestClock.adjust("30 seconds")
        yield* markUsed(workspace.id)
        yield* markUsed(workspace.id)
        expect(yield* lastUsed).toBe(workspace.last_used_at)
        yield* TestClock.adjust("1 minute")
        const flushed = yield* Effect.repeat(lastUsed, { until: (at) => at !== workspace.last_used_at })
        expect(flushed > Timestamp.plus(workspace.last_used_at, "30 seconds")).toBe(true)
        yield* TestClock.adjust("2 minutes")
        expect(yield* lastUsed).toBe(flushed)
      }).pipe(Effect.provide(activity))
    )

    it.effect("is written when the service ends", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const owner = yield* aUser()
        const repository = yield* WorkspaceRepository
        yield* (yield* OrganizationRepository).insert(organization)
        yield* (yield* UserRepository).insert(owner, null)
        const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.id })
        const { workspace } = yield* storedWorkspace(template, owner.id)
        yield* Effect.gen(function* () {
          const { markUsed } = yield* ActivityReports
          yield* TestClock.adjust("10 seconds")
          yield* markUsed(workspace.id)
        }).pipe(Effect.provide(activity))
        expect((yield* Effect.flatten(repository.byId(workspace.id))).last_used_at).toBe(
          Timestamp.plus(workspace.last_used_at, "10 seconds")
        )
      })
    )
  })
}
