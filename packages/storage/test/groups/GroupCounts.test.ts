import { AccessPredicate } from "@atelier/core/access"
import { type Group, GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { UserRepository } from "@atelier/core/identity"
import { MemberRepository, type Organization, OrganizationChangeRepository, OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, transaction, type Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import * as fc from "fast-check"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const at = <A>(items: ReadonlyArray<A>, index: number): A => {
  const item = items[index % items.length]
  if (item === undefined) throw new Error("there are none")
  return item
}

const userCount = 5

/** Events of users, and their objects; groups are those of two organizations, two of each. */
const event = fc.record({
  what: fc.constantFrom("join", "join", "leave", "enter", "enter", "enter", "exit", "rename", "hide", "show", "forget", "drop"),
  user: fc.nat(userCount - 1),
  place: fc.nat(3),
  isSystem: fc.boolean()
})

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the counts of groups' members on ${name}`, (it) => {
    const aGroup = ({ id: organization_id }: Pick<Organization, "id">) =>
      Effect.gen(function* () {
        const { id } = yield* anOrganization()
        const group: Group = { id, organization_id, name: id, display_name: "", avatar_url: "", quota_allowance: 0, source: "user" }
        yield* Effect.flatMap(GroupRepository, ({ insert }) => insert(group))
        return group
      })

    const inserted = (fields: Parameters<typeof aUser>[0] = {}) =>
      Effect.tap(aUser(fields), (user) => Effect.flatMap(UserRepository, ({ insert }) => insert(user, null)))

    /** Fails unless each group's count is that of its members, who come in the order of their names. */
    const agree = (ids: ReadonlyArray<Uuid.Uuid>) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { list } = yield* GroupRepository
        const { roster } = yield* GroupMemberRepository
        const groups = yield* list({ ids }, AccessPredicate.True())
        const shown = yield* Effect.forEach(groups, (group) =>
          Effect.map(Stream.runCollect(roster(group, AccessPredicate.True())), (users) => ({
            id: group.id,
            names: Chunk.toReadonlyArray(users).map(({ username }) => username)
          }))
        )
        const stored = yield* Effect.forEach(groups, ({ id }) =>
          Effect.map(
            sql<{ readonly username: string }>`SELECT u.username FROM users u WHERE NOT u.deleted AND NOT u.is_system AND u.id IN (
                SELECT m.user_id FROM group_members m WHERE m.group_id = ${id}
                UNION SELECT m.user_id FROM organization_members m WHERE m.organization_id = ${id})
              ORDER BY lower(u.username)`,
            (rows) => ({ id, names: rows.map(({ username }) => username) })
          )
        )
        expect(shown).toStrictEqual(stored)
        expect(groups.map(({ total_member_count }) => total_member_count)).toStrictEqual(stored.map(({ names }) => names.length))
      })

    const happens = (events: ReadonlyArray<typeof event extends fc.Arbitrary<infer A> ? A : never>) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const groups = yield* GroupRepository
        const groupMembers = yield* GroupMemberRepository
        const members = yield* MemberRepository
        const organizations = [yield* anOrganization(), yield* anOrganization()]
        for (const organization of organizations) yield* Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization))
        const users = yield* Effect.forEach(Array.from({ length: userCount }), () => inserted())
        const ofOrganizations = yield* Effect.forEach([0, 1, 2, 3], (index) => aGroup(at(organizations, index)))
        const now = yield* Timestamp.now
        for (const { isSystem, place, user, what } of events) {
          const { id: organization_id } = at(organizations, place)
          const { id: user_id } = at(users, user)
          const { id: group_id } = at(ofOrganizations, place)
          const column = sql.literal(isSystem ? "is_system" : "deleted")
          if (what === "join") yield* members.insert({ organization_id, user_id, created_at: now, updated_at: now, roles: [] })
          if (what === "leave") yield* members.delete(organization_id, user_id)
          if (what === "enter") yield* Effect.exit(transaction(groupMembers.add(group_id, [user_id])))
          if (what === "exit") yield* groupMembers.remove(group_id, [user_id])
          if (what === "rename") yield* sql`UPDATE users SET username = ${`${isSystem ? "A" : "z"}${user_id}`} WHERE id = ${user_id}`
          if (what === "hide") yield* sql`UPDATE users SET ${column} = (1 = 1) WHERE id = ${user_id}`
          if (what === "show") yield* sql`UPDATE users SET ${column} = (1 = 0) WHERE id = ${user_id}`
          if (what === "forget" && user === 0) yield* sql`DELETE FROM users WHERE id = ${user_id}`
          if (what === "drop" && place === 0) yield* groups.delete(group_id)
        }
        yield* agree([...ofOrganizations, ...organizations].map(({ id }) => id))
        for (const { id } of organizations) {
          yield* transaction(Effect.flatMap(OrganizationChangeRepository, (changes) => changes.delete(id, now)))
        }
        const left = yield* sql`SELECT n.id FROM group_counts n WHERE n.group_id IN ${sql.in(ofOrganizations.map(({ id }) => id))}`
        expect(left).toStrictEqual([])
      })

    it.effect("follow every change of members, whose order follows their names", () =>
      Effect.forEach(fc.sample(fc.array(event, { minLength: 5, maxLength: 25 }), { numRuns: 40, seed: 7 }), happens, { discard: true })
    )

    it.effect("leave out deleted users and the service's own", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        yield* Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization))
        const group = yield* aGroup(organization)
        const users = [yield* inserted({ deleted: true }), yield* inserted({ is_system: true }), yield* inserted()]
        const { byId } = yield* GroupRepository
        const members = yield* GroupMemberRepository
        yield* members.add(
          group.id,
          users.map(({ id }) => id)
        )
        expect((yield* Effect.flatten(byId(group.id))).total_member_count).toBe(1)
        yield* agree([group.id])
      })
    )

    // A transaction that must be repeated would wait for the stopped clock
    it.effect("agree after concurrent changes, which do not wait for each other's counts", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        yield* Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization))
        const groups = [yield* aGroup(organization), yield* aGroup(organization)]
        const { add, remove } = yield* GroupMemberRepository
        const users = yield* Effect.forEach(Array.from({ length: 20 }), () => inserted())
        yield* Effect.forEach(
          users,
          ({ id }, index) => {
            const [first, second] = [at(groups, index).id, at(groups, index + 1).id]
            return Effect.gen(function* () {
              yield* transaction(Effect.zipRight(add(first, [id]), add(second, [id])))
              if (index % 3 === 0) yield* transaction(Effect.zipRight(remove(second, [id]), remove(first, [id])))
            })
          },
          { concurrency: "unbounded", discard: true }
        )
        yield* agree(groups.map(({ id }) => id))
        const { list } = yield* GroupRepository
        const found = yield* list({ ids: groups.map(({ id }) => id) }, AccessPredicate.True())
        expect(found.map(({ total_member_count }) => total_member_count)).toStrictEqual([13, 13])
      })
    )
  })
}
