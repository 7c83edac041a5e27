import { AccessPredicate } from "@atelier/core/access"
import { AiBudgetRepository, AiSpendRepository, monthOf } from "@atelier/core/ai"
import { type Group, GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { QuotaRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Chunk, Context, Effect, Layer, Stream } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { orderedPlanOf, planOf, statementsOf } from "../../../../test/store/statements.js"
import { Statements } from "../../src/platform/Statements.js"

/** Enough for the databases to prefer indexes where there are some. */
const count = 300

/** Users, and members of one group other than Everyone: more than one statement reads of a roster. */
const crowded = 510

interface World {
  readonly organization: Uuid.Uuid
  readonly users: ReadonlyArray<Uuid.Uuid>
  readonly groups: ReadonlyArray<Uuid.Uuid>
  /** The group of all users, in an organization of its own. */
  readonly crowd: Group
  readonly now: Timestamp.Timestamp
}

class Populated extends Context.Tag("Populated")<Populated, World>() {}

const at = <A>(items: ReadonlyArray<A>, index: number): A => {
  const item = items[index % items.length]
  if (item === undefined) throw new Error("there are none")
  return item
}

const populated = Layer.effect(
  Populated,
  Effect.gen(function* () {
    const organizations = yield* OrganizationRepository
    const users = yield* UserRepository
    const repository = yield* GroupRepository
    const memberships = yield* GroupMemberRepository
    const budgets = yield* AiBudgetRepository
    const spend = yield* AiSpendRepository
    const sql = yield* Statements
    const now = yield* Timestamp.now
    const organization = yield* anOrganization()
    const people = yield* Effect.forEach(Array.from({ length: crowded }), () => aUser())
    const other = yield* anOrganization()
    const crowd: Group = {
      id: (yield* aUser()).id,
      organization_id: other.id,
      name: "crowd",
      display_name: "",
      avatar_url: "",
      quota_allowance: 0,
      source: "user"
    }
    const groups = yield* Effect.forEach(people.slice(0, count), (_, index) =>
      Effect.map(aUser(), ({ id }): Group => {
        const named = { name: `g${String(index).padStart(4, "0")}`, display_name: "", avatar_url: "" }
        return { id, organization_id: organization.id, ...named, quota_allowance: 1, source: "user" }
      })
    )
    yield* sql.transaction(
      Effect.gen(function* () {
        yield* organizations.insert(organization)
        yield* organizations.insert(other)
        yield* Effect.forEach(people, (user) => users.insert(user, null), { discard: true })
        yield* Effect.forEach(people.slice(0, count), ({ id }) =>
          organizations.addMember({ organization_id: organization.id, user_id: id, roles: [], created_at: now })
        )
        yield* Effect.forEach(groups, repository.insert, { discard: true })
        yield* Effect.forEach(groups, ({ id }, index) =>
          memberships.add(
            id,
            [0, 1, 2].map((next) => at(people, (index + next) % count).id)
          )
        )
        yield* repository.insert(crowd)
        yield* memberships.add(
          crowd.id,
          people.map(({ id }) => id)
        )
        // By more users than one statement sums for
        yield* Effect.forEach(people.slice(0, 101), (user, index) =>
          Effect.forEach(["m1", "m2", "m1"], (model) =>
            spend.book(now.slice(0, 10), {
              user_id: user.id,
              group_id: at(groups, index).id,
              organization_id: organization.id,
              model,
              provider: "p",
              provider_name: "n",
              input_tokens: 1,
              output_tokens: 1,
              cache_read_tokens: 1,
              cache_write_tokens: 1,
              cost_micros: 1
            })
          )
        )
        yield* Effect.forEach(groups.slice(0, 5), ({ id }) =>
          budgets.setOfGroup({ group_id: id, spend_limit_micros: 5, created_at: now, updated_at: now })
        )
      })
    )
    yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
    const members = people.slice(0, count).map(({ id }) => id)
    return { organization: organization.id, users: members, groups: groups.map(({ id }) => id), crowd, now }
  })
)

/** A read of a whole table that grows: PostgreSQL's `Seq Scan`, SQLite's `SCAN` without an index. */
const wholeTable =
  /Seq Scan on (users|groups|group_members|group_counts|organization_members|workspaces|ai_spend)\b|^SCAN (u|g|gm|m|n|w|s|v)$/m

for (const [name, database] of databases) {
  const world = populated.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(world)(`groups on ${name}`, (it) => {
    const everybody = AccessPredicate.True()
    const own = ({ organization, users }: World) =>
      AccessPredicate.And({
        predicates: [AccessPredicate.OwnerIs({ userId: at(users, 7) }), AccessPredicate.OrgIn({ organizationIds: [organization] })]
      })

    type Read = (
      world: World
    ) => Effect.Effect<unknown, unknown, GroupRepository | GroupMemberRepository | AiBudgetRepository | AiSpendRepository | QuotaRepository>
    const groups = <A>(ask: (repository: GroupRepository["Type"]) => Effect.Effect<A>) => Effect.flatMap(GroupRepository, ask)
    const members = <A>(ask: (repository: GroupMemberRepository["Type"]) => Effect.Effect<A>) => Effect.flatMap(GroupMemberRepository, ask)
    const budgets = <A>(ask: (repository: AiBudgetRepository["Type"]) => Effect.Effect<A>) => Effect.flatMap(AiBudgetRepository, ask)
    const spend = <A>(ask: (repository: AiSpendRepository["Type"]) => Effect.Effect<A>) => Effect.flatMap(AiSpendRepository, ask)
    const quotas = <A>(ask: (repository: QuotaRepository["Type"]) => Effect.Effect<A>) => Effect.flatMap(QuotaRepository, ask)

    it.effect.each<readonly [string, number, Read]>([
      ["a group", 1, ({ groups: ids }) => groups(({ byId }) => byId(at(ids, 3)))],
      ["a group of a name", 1, ({ organization }) => groups(({ byName }) => byName(organization, "G0007"))],
      ["groups of a name anywhere", 1, () => groups(({ list }) => list({ name: "G0007" }, everybody))],
      ["the groups of a member", 1, ({ users }) => groups(({ list }) => list({ has_member: at(users, 9) }, everybody))],
      ["the first page", 2, ({ organization: organization_id }) => groups(({ page }) => page({ organization_id, limit: 25, offset: 0 }))],
      [
        "a page behind a group",
        2,
        ({ groups: ids, organization: organization_id }) =>
          groups(({ page }) => page({ organization_id, after_id: at(ids, 200), limit: 25, offset: 0 }))
      ],
      ["rosters", 1, ({ groups: ids }) => members(({ rosters }) => rosters(ids.slice(0, 20), everybody))],
      ["the length of rosters", 1, ({ groups: ids }) => members(({ rosterLength }) => rosterLength(ids.slice(0, 20), everybody, 10))],
      ["a roster", 3, ({ crowd }) => members(({ roster }) => Stream.runCollect(roster(crowd, everybody)))],
      ["what a member sees of a roster", 1, (world) => members(({ roster }) => Stream.runCollect(roster(world.crowd, own(world))))],
      ["the members of a group, to be held", 1, ({ organization, users }) => members(({ lock }) => lock(organization, users.slice(0, 3)))],
      ["what a member sees of rosters", 1, (world) => members(({ rosters }) => rosters(world.groups.slice(0, 20), own(world)))],
      [
        "a page of members",
        2,
        ({ groups: ids, organization: organization_id }) =>
          members(({ page }) => page({ group: { id: at(ids, 3), organization_id }, filter: {}, readable: everybody, limit: 2, offset: 0 }))
      ],
      ["members to be added", 1, ({ organization, users }) => members((repository) => repository.among(organization, users.slice(0, 3)))],
      ["a user's quota", 1, ({ organization, users }) => quotas(({ budget }) => budget(organization, at(users, 3)))],
      ["what a user consumes", 1, ({ organization, users }) => quotas(({ consumed }) => consumed(organization, at(users, 3)))],
      ["the budgets of users", 3, ({ users }) => budgets(({ budgetInputs }) => budgetInputs(users.slice(0, 3)))],
      ["what members of groups may spend together", 1, ({ groups: ids }) => budgets(({ totals }) => totals(ids.slice(0, 5)))],
      ["what groups spent", 1, ({ groups: ids, now }) => spend(({ ofGroups }) => ofGroups(ids.slice(0, 5), monthOf(now)))],
      [
        "what members spent",
        1,
        ({ groups: ids, now, users }) => spend(({ ofUsers }) => ofUsers(at(ids, 0), users.slice(0, 5), monthOf(now)))
      ],
      ["what an organization spent", 4, ({ now, organization }) => spend(({ sums }) => Stream.runCollect(sums(organization, monthOf(now))))]
    ])("reads no whole table for %s", ([, expected, read]) =>
      Effect.gen(function* () {
        const { statements } = yield* statementsOf(read(yield* Populated))
        expect(statements).toHaveLength(expected)
        for (const statement of statements) expect(yield* planOf(statement)).not.toMatch(wholeTable)
      })
    )

    it.effect("come in pages in the order of an index", () =>
      Effect.gen(function* () {
        const { groups: ids, organization: organization_id } = yield* Populated
        const { page } = yield* GroupRepository
        const { statements, value } = yield* statementsOf(page({ organization_id, after_id: at(ids, 200), limit: 25, offset: 0 }))
        expect([value.count, value.groups[0]?.name, value.groups.length]).toStrictEqual([99, "g0201", 25])
        const plan = yield* planOf(at(statements, 0))
        expect(plan).toMatch(/groups_in_order/)
        expect(plan).not.toMatch(/TEMP B-TREE|Sort Key/)
      })
    )

    it.effect("are found without counting members unless the count is requested", () =>
      Effect.gen(function* () {
        const { groups: ids } = yield* Populated
        const { find } = yield* GroupRepository
        const { statements, value } = yield* statementsOf(find(at(ids, 3)))
        expect(value).toMatchObject({ _tag: "Some", value: { name: "g0003" } })
        expect(statements).toHaveLength(1)
        expect(yield* planOf(at(statements, 0))).not.toMatch(/members|users/)
      })
    )

    it.effect("count rosters no further than asked", () =>
      Effect.gen(function* () {
        const { groups: ids, organization } = yield* Populated
        const { rosterLength } = yield* GroupMemberRepository
        expect(yield* rosterLength(ids, everybody, 10)).toBe(10)
        expect(yield* rosterLength(ids, everybody, 10_000)).toBe(3 * count)
        expect(yield* rosterLength([...ids, organization], everybody, 10_000)).toBe(4 * count)
        expect(yield* rosterLength([...ids, organization], own(yield* Populated), 10_000)).toBe(4)
      })
    )

    it.effect("show their members in the order of an index, page by page, without counting", () =>
      Effect.gen(function* () {
        const { crowd, organization } = yield* Populated
        const { page } = yield* GroupMemberRepository
        for (const [group, total, index] of [
          [{ id: organization, organization_id: organization }, count, /organization_members_in_order/],
          [crowd, crowded, /group_members_in_order/]
        ] as const) {
          const all = yield* page({ group, filter: {}, readable: everybody, limit: 0, offset: 0 })
          const names = all.users.map(({ username }) => username)
          expect([names.length, all.count]).toStrictEqual([total, total])
          expect(names).toStrictEqual(names.toSorted())
          const after_id = at(all.users, 199).id
          const { statements, value } = yield* statementsOf(
            page({ group, filter: {}, readable: everybody, after_id, limit: 25, offset: 10 })
          )
          expect(value).toStrictEqual({ count: total - 200, users: all.users.slice(210, 235) })
          const [plan = "", counting = ""] = yield* Effect.forEach(statements, orderedPlanOf)
          expect(plan).toMatch(index)
          expect(plan).not.toMatch(/TEMP B-TREE|Sort Key/)
          expect(counting).toMatch(index)
        }
      })
    )

    it.effect("count the members that a search finds", () =>
      Effect.gen(function* () {
        const { crowd } = yield* Populated
        const { page } = yield* GroupMemberRepository
        const all = yield* page({ group: crowd, filter: {}, readable: everybody, limit: 0, offset: 0 })
        const username = at(all.users, 300).username
        const found = yield* page({ group: crowd, filter: { username }, readable: everybody, limit: 5, offset: 0 })
        expect(found).toStrictEqual({ count: 1, users: all.users.slice(300, 301) })
      })
    )

    it.effect("stream their spend by user, some users with each statement", () =>
      Effect.gen(function* () {
        const { now, organization, users } = yield* Populated
        const { sums } = yield* AiSpendRepository
        const found = Chunk.toReadonlyArray(yield* Stream.runCollect(sums(organization, monthOf(now))))
        const costs = new Map([
          ["m1", 2],
          ["m2", 1]
        ])
        expect(found.map(({ cost_micros, model, user_id }) => [user_id, model, cost_micros])).toStrictEqual(
          users
            .slice(0, 101)
            .toSorted()
            .flatMap((id) => Array.from(costs, ([model, cost]) => [id, model, cost]))
        )
        const before = { period_start: Timestamp.never, period_end: Timestamp.never }
        expect(Chunk.size(yield* Stream.runCollect(sums(organization, before)))).toBe(0)
      })
    )

    it.effect("stream a roster in the order of an index", () =>
      Effect.gen(function* () {
        const { crowd } = yield* Populated
        const { page, roster } = yield* GroupMemberRepository
        const { statements, value } = yield* statementsOf(Stream.runCollect(roster(crowd, everybody)))
        const all = yield* page({ group: crowd, filter: {}, readable: everybody, limit: 0, offset: 0 })
        expect(Chunk.toReadonlyArray(value)).toStrictEqual(all.users)
        expect(statements).toHaveLength(3)
        for (const statement of statements) {
          const plan = yield* orderedPlanOf(statement)
          expect(plan).toMatch(/group_members_in_order/)
          expect(plan).not.toMatch(/TEMP B-TREE|Sort Key/)
        }
      })
    )

    it.effect("show all rosters with one statement", () =>
      Effect.gen(function* () {
        const { groups: ids, users } = yield* Populated
        const { rosters } = yield* GroupMemberRepository
        const { statements, value } = yield* statementsOf(rosters(ids, everybody))
        expect([statements.length, value.length]).toStrictEqual([1, 3 * count])
        expect(new Set(value.map(({ id }) => id))).toStrictEqual(new Set(users))
      })
    )
  })
}
