import { AccountRepository, LoginSyncRepository, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository, RightsRepository } from "@atelier/core/organizations"
import { Timestamp, Transactor } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { postgres } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Waits until a statement waits for others' rows. */
const someoneWaits = Effect.repeat(
  Effect.flatMap(
    Statements,
    (sql) => sql<{ waiting: number }>`SELECT CAST(count(*) AS integer) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
  ),
  { until: ([row]) => row?.waiting === 1 }
)

layer(Layer.merge(postgres, runtime), { excludeTestServices: true })("rights on PostgreSQL", (it) => {
  it.effect("that are held are without the membership that a login has just ended", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const { addMember, insert } = yield* OrganizationRepository
      const { lock } = yield* AccountRepository
      const { leave } = yield* LoginSyncRepository
      const { lock: lockRights } = yield* RightsRepository
      const [organization, user] = [yield* anOrganization(), yield* aUser()]
      yield* insert(organization)
      yield* (yield* UserRepository).insert(user, null)
      const created_at = yield* Timestamp.now
      yield* addMember({ organization_id: organization.id, user_id: user.id, roles: ["organization-admin"], created_at })
      const [left, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const leaving = yield* Effect.fork(
        atomically(
          Effect.gen(function* () {
            yield* lock([user.id])
            yield* leave(user.id, [organization.id])
            yield* Deferred.succeed(left, undefined)
            yield* Deferred.await(goOn)
          })
        )
      )
      yield* Deferred.await(left)
      const holding = yield* Effect.fork(atomically(lockRights(user.id)))
      yield* someoneWaits
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(leaving)
      expect(Option.getOrThrow(yield* Fiber.join(holding)).memberships).toStrictEqual([])
    })
  )
})
