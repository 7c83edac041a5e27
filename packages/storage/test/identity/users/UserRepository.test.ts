import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`users on ${name}`, (it) => {
    it.effect("come back as they were stored, found by id and by name in any case", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const user = yield* aUser({ username: "Ada-Lovelace", rbac_roles: ["owner"], is_service_account: true })
        yield* users.insert(user, null)
        const stored = Option.some({ ...user, organization_ids: [] })
        expect(yield* users.byId(user.id)).toStrictEqual(stored)
        expect(yield* users.byUsername("ada-lovelace")).toStrictEqual(stored)
      })
    )

    it.effect("carry the organizations they are members of", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const organizations = yield* OrganizationRepository
        const user = yield* aUser()
        const organization = yield* anOrganization()
        yield* users.insert(user, null)
        yield* organizations.insert(organization)
        yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: yield* Timestamp.now })
        expect(Option.map(yield* users.byId(user.id), ({ organization_ids }) => organization_ids)).toStrictEqual(
          Option.some([organization.id])
        )
      })
    )

    it.effect("refuse a username or an e-mail address that is taken in another case, naming the index", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        yield* users.insert(yield* aUser({ username: "grace", email: "grace@example.com" }), null)
        const sameName = yield* Effect.flip(users.insert(yield* aUser({ username: "GRACE" }), null))
        const sameEmail = yield* Effect.flip(users.insert(yield* aUser({ email: "Grace@Example.com" }), null))
        expect([sameName.constraint, sameEmail.constraint]).toStrictEqual(["users_username", "users_email"])
      })
    )

    it.effect("change their status only from the status that is expected", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const user = yield* aUser({ status: "dormant" })
        const at = yield* Timestamp.now
        yield* users.insert(user, null)
        expect(yield* users.updateStatus(user.id, "dormant", "active", at)).toBe(true)
        expect(yield* users.updateStatus(user.id, "dormant", "active", at)).toBe(false)
      })
    )
  })
}
