import type { Group } from "@atelier/core/groups"
import { LoginSyncRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Transactor } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { anOrganization } from "../../../../../test/records/builders.js"
import { postgres } from "../../../../../test/store/databases.js"
import { untilLockWaiters } from "../../../../../test/store/lockWaiters.js"
import { runtime } from "../../../../../test/store/services.js"

layer(Layer.merge(postgres, runtime), { excludeTestServices: true })("groups that logins make on PostgreSQL", (it) => {
  it.effect("are created by concurrent logins, in any order of their claims", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const { createGroups, findGroups } = yield* LoginSyncRepository
      const ids = yield* Ids
      const organization = yield* anOrganization()
      yield* (yield* OrganizationRepository).insert(organization)
      const named = (names: ReadonlyArray<string>) =>
        Effect.forEach(names, (name) =>
          Effect.map(ids.next, (id): Group => ({
            id,
            organization_id: organization.id,
            name,
            display_name: "",
            avatar_url: "",
            quota_allowance: 0,
            source: "oidc"
          }))
        )
      let attempts = 0
      const create = (groups: ReadonlyArray<Group>) =>
        Effect.fork(
          atomically(
            Effect.suspend(() => {
              attempts++
              return createGroups(groups)
            })
          )
        )
      const [held, created] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.fork(
        atomically(
          Effect.gen(function* () {
            yield* createGroups(yield* named(["b"]))
            yield* Deferred.succeed(created, undefined)
            yield* Deferred.await(held)
          })
        )
      )
      yield* Deferred.await(created)
      const others = [yield* create(yield* named(["a", "b", "c"])), yield* create(yield* named(["c", "b", "a"]))]
      yield* untilLockWaiters(2)
      yield* Deferred.succeed(held, undefined)
      yield* Fiber.joinAll([first, ...others])
      expect(attempts).toBe(2)
      expect(yield* findGroups([{ organization_id: organization.id, ids: [], names: ["a", "b", "c"] }])).toHaveLength(3)
    })
  )
})
