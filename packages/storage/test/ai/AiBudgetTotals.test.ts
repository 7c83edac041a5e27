import { AiBudgetRepository, effectiveBudget } from "@atelier/core/ai"
import { type Group, GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Two organizations with two groups each in addition to Everyone; a user's random choices are by index into these. */
const organizationCount = 2
const groupCount = 4

const world = fc.record({
  /** By organization, then by group. */
  budgets: fc.array(fc.option(fc.integer({ min: 0, max: 2 })), {
    minLength: organizationCount + groupCount,
    maxLength: organizationCount + groupCount
  }),
  deleted: fc.integer({ min: 0, max: organizationCount * 3 }),
  users: fc.array(
    fc.record({
      isGone: fc.integer({ min: 0, max: 5 }),
      /** The day on which it joined each organization, if it did. */
      joined: fc.array(fc.option(fc.integer({ min: 1, max: 2 })), { minLength: organizationCount, maxLength: organizationCount }),
      groups: fc.subarray(Array.from({ length: groupCount }, (_, index) => index)),
      override: fc.option(fc.record({ of: fc.nat(), limit: fc.integer({ min: 0, max: 9 }) }))
    }),
    { minLength: 1, maxLength: 8 }
  )
})

type World = typeof world extends fc.Arbitrary<infer A> ? A : never

const day = (number: number) => Timestamp.Timestamp.make(`2026-01-0${number}T00:00:00.000Z`)

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`what members of groups may spend together on ${name}`, (it) => {
    const holds = ({ budgets: limits, deleted, users: people }: World) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const organizations = yield* OrganizationRepository
        const users = yield* UserRepository
        const groups = yield* GroupRepository
        const members = yield* GroupMemberRepository
        const budgets = yield* AiBudgetRepository
        const made = yield* Effect.forEach(Array.from({ length: organizationCount }), () => anOrganization())
        yield* Effect.forEach(made, organizations.insert, { discard: true })
        const stored = yield* Effect.forEach(Array.from({ length: groupCount }), (_, index) =>
          Effect.gen(function* () {
            const organization_id = made[index % organizationCount]?.id ?? (yield* Effect.dieMessage("no organization"))
            const { id } = yield* anOrganization()
            const group: Group = { id, organization_id, name: id, display_name: "", avatar_url: "", quota_allowance: 0, source: "user" }
            yield* Effect.orDie(groups.insert(group))
            return group
          })
        )
        const all = [...made.map(({ id }) => ({ id, organization_id: id })), ...stored]
        for (const [index, limit] of limits.entries()) {
          const group_id = all[index]?.id
          if (limit === null || group_id === undefined) continue
          yield* budgets.setOfGroup({ group_id, spend_limit_micros: limit, created_at: day(1), updated_at: day(1) })
        }

        const places: Array<{ readonly group_id: Uuid.Uuid; readonly user_id: Uuid.Uuid }> = []
        for (const { groups: indices, isGone, joined, override } of people) {
          const user = yield* aUser(isGone === 0 ? { deleted: true } : isGone === 1 ? { is_system: true } : {})
          yield* Effect.orDie(users.insert(user, null))
          const memberships = made.flatMap(({ id }, index) => {
            const number = joined[index]
            return number === null || number === undefined ? [] : [{ id, created_at: day(number) }]
          })
          for (const { created_at, id } of memberships) {
            yield* organizations.addMember({ organization_id: id, user_id: user.id, roles: [], created_at })
          }
          const isMember = ({ organization_id }: Pick<Group, "organization_id">) => memberships.some(({ id }) => id === organization_id)
          const own = stored.filter((group, index) => indices.includes(index) && isMember(group))
          for (const { id } of own) yield* Effect.orDie(members.add(id, [user.id]))
          const ofUser = [...memberships.map(({ id }) => ({ id, organization_id: id })), ...own]
          if (isGone > 1) places.push(...ofUser.map(({ id }) => ({ group_id: id, user_id: user.id })))
          const on = override === null ? undefined : ofUser[override.of % Math.max(1, ofUser.length)]
          if (override === null || on === undefined) continue
          yield* budgets.setOverride({
            user_id: user.id,
            group_id: on.id,
            organization_id: on.organization_id,
            spend_limit_micros: override.limit,
            created_at: day(1),
            updated_at: day(1)
          })
        }
        const gone = made[deleted]?.id
        if (gone !== undefined) yield* sql`UPDATE organizations SET deleted = ${sql.literal("true")} WHERE id = ${gone}`

        const asked = all.filter(({ organization_id }) => organization_id !== gone)
        const budgetInputs = yield* budgets.budgetInputs([...new Set(places.map(({ user_id }) => user_id))])
        const expected = new Map(
          asked.flatMap(({ id }) => {
            const limit = limits[all.findIndex((group) => group.id === id)]
            if (limit === null || limit === undefined) return []
            const booked = places.flatMap(({ group_id, user_id }) => {
              const inputs = budgetInputs.get(user_id)
              const budget = inputs === undefined ? null : effectiveBudget(inputs)
              return group_id === id && budget?.group_id === id ? [budget.limit?.spend_limit_micros ?? 0] : []
            })
            return [[id, booked.reduce((sum, each) => sum + each, 0)] as const]
          })
        )
        expect(yield* budgets.totals(asked.map(({ id }) => id))).toStrictEqual(expected)
      })

    it.effect("are the limits of the members whose spend is charged to each group", () =>
      Effect.forEach(fc.sample(world, { numRuns: 40, seed: 11 }), holds, { discard: true })
    )
  })
}
