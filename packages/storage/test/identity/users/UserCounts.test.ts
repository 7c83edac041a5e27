import { AccessPredicate } from "@atelier/core/access"
import { UserDirectoryRepository, type UserFilter, UserRepository } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { Statements } from "../../../src/platform/Statements.js"

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the counts of users on ${name}`, (it) => {
    const page = (filter: UserFilter, limit = 1) =>
      Effect.flatMap(UserDirectoryRepository, ({ page }) => page({ readable: AccessPredicate.True(), filter, limit, offset: 0 }))

    it.effect("follow users' changes, and searches follow their names", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const sql = yield* Statements
        const insert = (fields: Parameters<typeof aUser>[0]) => Effect.tap(aUser(fields), (user) => users.insert(user, null))
        const ada = yield* insert({ username: "ada-lovelace" })
        const alan = yield* insert({ username: "alan-turing", status: "dormant", login_type: "github" })
        yield* insert({ username: "robot", is_service_account: true, email: "", login_type: "none" })
        yield* insert({ username: "ghost", deleted: true })
        yield* insert({ username: "system", is_system: true })

        const counts = Effect.gen(function* () {
          const filters: ReadonlyArray<UserFilter> = [
            {},
            { statuses: ["active"] },
            { statuses: ["dormant", "suspended"] },
            { login_types: ["password"] },
            { is_service_account: false },
            { statuses: ["active"], login_types: ["github"] }
          ]
          // The count is the same with pages of one and of all
          const counted = yield* Effect.forEach(filters, (filter) => Effect.map(page(filter), ({ count }) => count))
          expect(counted).toStrictEqual(
            yield* Effect.forEach(filters, (filter) => Effect.map(page(filter, 0), ({ users }) => users.length))
          )
          return counted
        })
        expect(yield* counts).toStrictEqual([3, 2, 1, 1, 2, 0])
        yield* users.updateStatus(alan.id, "dormant", "active", yield* Timestamp.now)
        expect(yield* counts).toStrictEqual([3, 3, 0, 1, 2, 1])

        const named = (search: string) => Effect.map(page({ search }, 25), ({ users }) => users.map(({ username }) => username))
        expect([yield* named("lovelace"), yield* named("a-lo"), yield* named("love*"), yield* named('"ada')]).toStrictEqual([
          ["ada-lovelace"],
          ["ada-lovelace"],
          [],
          []
        ])
        yield* sql`UPDATE users SET name = 'Countess "100%" King', username = 'ada-king' WHERE id = ${ada.id}`
        expect([yield* named("lovelace"), yield* named("king"), yield* named('"100%"'), yield* named("100_")]).toStrictEqual([
          [],
          ["ada-king"],
          ["ada-king"],
          []
        ])
        expect((yield* page({ name: "king" }, 25)).count).toBe(1)
        expect((yield* page({ name: "ada" }, 25)).count).toBe(0)
        yield* sql`UPDATE users SET deleted = (1 = 1) WHERE id = ${ada.id}`
        expect(yield* named("king")).toStrictEqual([])
        yield* sql`DELETE FROM users WHERE id = ${alan.id}`
        expect(yield* counts).toStrictEqual([1, 1, 0, 0, 0, 0])
      })
    )

    it.effect("are of pages that are the same from either end", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        yield* Effect.forEach(Array.from({ length: 30 }), (_, index) =>
          Effect.flatMap(
            aUser({ username: `p${String(index).padStart(2, "0")}`, rbac_roles: index % 3 === 0 ? ["auditor"] : [] }),
            (user) => users.insert(user, null)
          )
        )
        const now = yield* Timestamp.now
        for (const filter of [
          {},
          { created_before: now },
          { created_after: now },
          { roles: ["auditor"] },
          { search: "p1" },
          { search: "@example" },
          { statuses: ["active" as const] }
        ]) {
          const { page } = yield* UserDirectoryRepository
          const query = { readable: AccessPredicate.True(), filter }
          const all = yield* page({ ...query, limit: 0, offset: 0 })
          for (const limit of [1, 4, 7]) {
            const pages = yield* Effect.forEach(
              Array.from({ length: Math.ceil(all.count / limit) }, (_, index) => index * limit),
              (offset) => page({ ...query, limit, offset })
            )
            expect(pages.flatMap(({ users }) => users)).toStrictEqual(all.users)
            expect(new Set(pages.map(({ count }) => count))).toStrictEqual(new Set([all.users.length]))
          }
          expect(yield* page({ ...query, limit: 5, offset: all.count })).toStrictEqual({ users: [], count: 0 })
        }
      })
    )
  })
}
