import { AccessPredicate } from "@atelier/core/access"
import { ScimUserRepository, type UserQuery, UserDirectoryRepository, UserRepository } from "@atelier/core/identity"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"
import { Statements } from "../../../src/platform/Statements.js"

/** Enough for the databases to prefer indexes where there are some. */
const count = 600

interface World {
  readonly ids: ReadonlyArray<Uuid.Uuid>
  readonly username: string
  readonly now: Timestamp.Timestamp
}

class Populated extends Context.Tag("Populated")<Populated, World>() {}

const populated = Layer.effect(
  Populated,
  Effect.gen(function* () {
    const users = yield* UserRepository
    const sql = yield* Statements
    const stored = yield* Effect.forEach(Array.from({ length: count }), (_, index) =>
      aUser({ username: `u${String(index).padStart(4, "0")}`, rbac_roles: index === 7 ? ["auditor"] : [] })
    )
    yield* sql.transaction(Effect.forEach(stored, (user) => users.insert(user, null), { discard: true }))
    yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
    return { ids: stored.map(({ id }) => id), username: "u0042", now: yield* Timestamp.now }
  })
)

/** A read of all users: PostgreSQL's `Seq Scan`, SQLite's `SCAN` without an index. */
const wholeTable = /Seq Scan on users\b|^SCAN [uc]$/m

for (const [name, database] of databases) {
  const world = populated.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(world)(`the list of users on ${name}`, (it) => {
    const read = (query: (world: World) => Partial<UserQuery>) =>
      Effect.gen(function* () {
        const { page } = yield* UserDirectoryRepository
        const base: UserQuery = { readable: AccessPredicate.True(), filter: {}, limit: 25, offset: 0 }
        const { statements, value } = yield* statementsOf(page({ ...base, ...query(yield* Populated) }))
        return { value, plans: yield* Effect.forEach(statements, planOf) }
      })

    it.effect.each<readonly [string, (world: World) => Partial<UserQuery>, RegExp | undefined]>([
      ["the first page", () => ({}), /users_in_order|users_username/],
      ["a page behind a user", ({ ids }) => ({ after_id: ids[300] }), /users_in_order|users_username/],
      ["a member's page", ({ ids }) => ({ readable: AccessPredicate.OwnerIs({ userId: ids[0] ?? "" }) }), undefined],
      ["a part of a name", () => ({ filter: { search: "42" } }), undefined],
      ["a longer part of a name", () => ({ filter: { search: "u0042" } }), undefined],
      ["a username", ({ username }) => ({ filter: { username } }), /users_username|users_in_order/],
      ["an address", ({ ids }) => ({ filter: { email: `${ids[5]}@example.com` } }), /users_email/],
      ["a status", () => ({ filter: { statuses: ["suspended"] } }), /users_by_status/],
      ["a role", () => ({ filter: { roles: ["auditor"] } }), /users_with_roles/],
      ["a login type", () => ({ filter: { login_types: ["github"] } }), /users_by_login_type/],
      ["service accounts", () => ({ filter: { is_service_account: true } }), /users_service_accounts/],
      ["an account at GitHub", () => ({ filter: { github_com_user_id: 42 } }), /users_by_github_account/],
      ["those not seen", ({ now }) => ({ filter: { last_seen_after: now } }), undefined],
      ["new ones", ({ now }) => ({ filter: { created_after: now } }), undefined]
    ])("reads no whole table for %s", ([, query, index]) =>
      Effect.gen(function* () {
        const { plans } = yield* read(query)
        expect(plans.length).toBeLessThanOrEqual(3)
        for (const plan of plans) expect(plan).not.toMatch(wholeTable)
        if (index !== undefined) expect(plans.join("\n")).toMatch(index)
      })
    )

    // SQLite sees that a page found in order is in order
    it.effect("sorts nothing for a page but itself and the memberships of each user", () =>
      Effect.gen(function* () {
        const { plans } = yield* read(({ ids }) => ({ after_id: ids[300] }))
        expect(plans.join("\n").match(/TEMP B-TREE|Sort Key/g)).toHaveLength(name === "SQLite" ? 1 : 2)
      })
    )

    it.effect("reads no whole table for the queries of identity providers", () =>
      Effect.gen(function* () {
        const { count: countOf, page } = yield* ScimUserRepository
        const { ids, username } = yield* Populated
        const filters = [undefined, { username }, { email: `${ids[5]}@example.com` }]
        for (const filter of filters) {
          const query = { filter, readable: AccessPredicate.True() }
          const { statements, value } = yield* statementsOf(Effect.all([page({ ...query, limit: 25, offset: 575 }), countOf(query)]))
          expect([value[0].length, value[1]]).toStrictEqual(filter === undefined ? [25, count] : [0, 1])
          for (const statement of statements) expect(yield* planOf(statement)).not.toMatch(wholeTable)
        }
      })
    )

    it.effect("counts the users behind a cursor, and reads only a page that ends the list", () =>
      Effect.gen(function* () {
        const full = yield* read(({ ids }) => ({ after_id: ids[99], limit: 10, offset: 5 }))
        expect([full.value.count, full.value.users[0]?.username, full.plans.length]).toStrictEqual([count - 100, "u0105", 2])
        const last = yield* read(({ ids }) => ({ after_id: ids[count - 5], limit: 10 }))
        expect([last.value.count, last.value.users.length, last.plans.length]).toStrictEqual([4, 4, 1])
        const all = yield* read(() => ({ limit: 0 }))
        expect([all.value.count, all.value.users.length, all.plans.length]).toStrictEqual([count, count, 1])
      })
    )
  })
}
