import { AccessPredicate } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import {
  CustomRoleRepository,
  MemberRepository,
  type Organization,
  OrganizationChangeRepository,
  OrganizationRepository,
  RightsRepository
} from "@atelier/core/organizations"
import { Timestamp, transaction, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { orderedPlanOf, planOf, statementsOf } from "../../../../test/store/statements.js"
import { Statements } from "../../src/platform/Statements.js"

/** Enough for the databases to prefer indexes where there are some; half of the users are members. */
const count = 400

interface World {
  readonly organization: Organization
  readonly members: ReadonlyArray<Uuid.Uuid>
}

class Populated extends Context.Tag("Populated")<Populated, World>() {}

const populated = Layer.effect(
  Populated,
  Effect.gen(function* () {
    const users = yield* UserRepository
    const { addMember, insert } = yield* OrganizationRepository
    const sql = yield* Statements
    const [organization, other] = [yield* anOrganization(), yield* anOrganization()]
    const stored = yield* Effect.forEach(Array.from({ length: count }), (_, index) =>
      aUser({ username: `u${String(index).padStart(4, "0")}` })
    )
    const created_at = yield* Timestamp.now
    yield* sql.transaction(
      Effect.gen(function* () {
        yield* insert(organization)
        yield* insert(other)
        yield* Effect.forEach(stored, (user) => users.insert(user, null), { discard: true })
        yield* Effect.forEach(
          stored,
          ({ id }, index) =>
            addMember({
              organization_id: index % 2 === 0 ? organization.id : other.id,
              user_id: id,
              roles: index === 8 ? ["organization-auditor", "crew"] : [],
              created_at
            }),
          { discard: true }
        )
      })
    )
    yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
    return { organization, members: stored.filter((_, index) => index % 2 === 0).map(({ id }) => id) }
  })
)

const noFilter = { user_id: undefined, github_user_id: undefined, include_system: undefined }

const wholeTable = /Seq Scan|^SCAN (?!json_each|r\b|CONSTANT|\(subquery)/m

for (const [name, database] of databases) {
  const world = populated.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(world)(`members of organizations on ${name}`, (it) => {
    it.effect("are read in the order of an index, in two statements at most", () =>
      Effect.gen(function* () {
        const { members, organization } = yield* Populated
        const { page } = yield* MemberRepository
        const query = { organization_id: organization.id, filter: {}, limit: 10, offset: 0 }
        for (const [asked, total, counted] of [
          [query, count / 2, /group_counts_by_group/],
          [{ ...query, after_id: members[50] }, count / 2 - 51, /organization_members_in_order/]
        ] as const) {
          const { statements, value } = yield* statementsOf(page(asked))
          expect([value.count, value.members.length, statements.length]).toStrictEqual([total, 10, 2])
          const [plan = "", counting = ""] = yield* Effect.forEach(statements, orderedPlanOf)
          expect(plan).toMatch(/organization_members_in_order/)
          expect(plan).not.toMatch(/TEMP B-TREE|Sort Key|Seq Scan/)
          expect(counting).toMatch(counted)
          expect(counting).not.toMatch(/users|Seq Scan/)
        }
        const behind = yield* page({ ...query, after_id: members[50], limit: 2 })
        expect(behind.members.map(({ user_id }) => user_id)).toStrictEqual(members.slice(51, 53))
        const all = yield* statementsOf(page({ ...query, limit: 0 }))
        expect([all.value.members.length, all.statements.length]).toStrictEqual([count / 2, 1])
      })
    )

    it.effect("are counted with the filter where there is one", () =>
      Effect.gen(function* () {
        const { organization } = yield* Populated
        const { page } = yield* MemberRepository
        const query = { organization_id: organization.id, filter: { search: "u000" }, limit: 2, offset: 1 }
        const { count, members } = yield* page(query)
        expect([count, members.map(({ username }) => username)]).toStrictEqual([5, ["u0002", "u0004"]])
      })
    )

    it.effect("are all read in the order of an index, some with each statement", () =>
      Effect.gen(function* () {
        const { organization } = yield* Populated
        const { list } = yield* MemberRepository
        const { statements, value } = yield* statementsOf(Stream.runCollect(list(organization.id, noFilter, AccessPredicate.True())))
        expect([value.length, statements.length]).toStrictEqual([count / 2, 1])
        for (const statement of statements) {
          const plan = yield* orderedPlanOf(statement)
          expect(plan).toMatch(/organization_members_in_order/)
          expect(plan).not.toMatch(/TEMP B-TREE|Sort Key|Seq Scan/)
        }
      })
    )

    it.effect("are found and changed without reading a whole table", () =>
      Effect.gen(function* () {
        const { members: ids, organization } = yield* Populated
        const members = yield* MemberRepository
        const roles = yield* CustomRoleRepository
        const changes = yield* OrganizationChangeRepository
        const rights = yield* RightsRepository
        const { id: organization_id } = organization
        const [first = Uuid.nil, second = Uuid.nil] = ids
        const now = yield* Timestamp.now
        const made = { organization_id, created_at: now, updated_at: now, permissions: { template: ["read" as const] } }
        const { statements } = yield* statementsOf(
          transaction(
            Effect.all([
              Stream.runCollect(members.list(organization_id, noFilter, AccessPredicate.True())),
              members.byId(organization_id, first),
              members.byUsername(organization_id, "U0008"),
              members.insert({ ...made, user_id: first, roles: [] }),
              members.updateRoles({ organization_id, user_id: first, roles: ["crew"], updated_at: now }),
              roles.insert({ ...made, id: second, name: "crew", display_name: "" }),
              roles.byName(organization_id, "crew"),
              roles.named(organization_id, ["crew"]),
              roles.ofOrganization(organization_id),
              roles.count(organization_id),
              roles.update({ ...made, id: second, display_name: "Crew" }),
              rights.lock(first),
              members.withdrawRole(organization_id, "crew", now),
              roles.delete(second),
              members.delete(organization_id, first),
              changes.lock(organization_id),
              changes.lockShared(organization_id),
              changes.lockForDeletion(organization_id),
              changes.update(organization),
              changes.endSharing(organization_id, { ofServiceAccounts: true }),
              changes.endSharing(organization_id, { ofServiceAccounts: false }),
              changes.contents(organization_id)
            ])
          )
        )
        const plans = yield* Effect.forEach(statements, (statement) =>
          Effect.map(planOf(statement), (plan) => ({ statement: statement.text, plan }))
        )
        expect(plans.filter(({ plan }) => wholeTable.test(plan))).toStrictEqual([])
      })
    )

    it.effect("keep their other roles when one is deleted", () =>
      Effect.gen(function* () {
        const { members: ids, organization } = yield* Populated
        const members = yield* MemberRepository
        const found = yield* Effect.flatten(members.byUsername(organization.id, "u0008"))
        yield* members.updateRoles({ ...found, roles: ["organization-auditor", "crew", "agents-access"] })
        yield* members.withdrawRole(organization.id, "crew", yield* Timestamp.now)
        const after = yield* Effect.flatten(members.byId(organization.id, found.user_id))
        expect([ids.includes(found.user_id), after.roles]).toStrictEqual([true, ["organization-auditor", "agents-access"]])
      })
    )
  })
}
