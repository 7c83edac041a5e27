import { noClaims, type UserLink, UserLinkRepository, UserRepository } from "@atelier/core/identity"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"

const sealed = (byte: number, key_id = "one") => ({ key_id, ciphertext: new Uint8Array([byte]) })

const aLink = (fields: Partial<UserLink> = {}) =>
  Effect.gen(function* () {
    const user = yield* aUser()
    const now = yield* Timestamp.now
    yield* (yield* UserRepository).insert(user, null)
    const link: UserLink = {
      id: yield* (yield* Ids).next,
      user_id: user.id,
      login_type: "oidc",
      linked_id: `issuer||${user.id}`,
      oauth_expiry: null,
      created_at: now,
      updated_at: now,
      ...fields
    }
    yield* (yield* UserLinkRepository).insert(link, sealed(1), noClaims)
    return link
  })

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`links of users in ${name}`, (it) => {
    it.effect("keep the tokens of a login during a renewal", () =>
      Effect.gen(function* () {
        const links = yield* UserLinkRepository
        const { id, oauth_expiry, updated_at, user_id } = yield* aLink()
        const renewed = { oauth_expiry, updated_at, value: sealed(2) }
        expect(yield* links.replaceTokens(id, sealed(1), renewed)).toBe(true)
        expect(yield* links.replaceTokens(id, sealed(1), { ...renewed, value: sealed(3) })).toBe(false)
        expect(yield* links.reseal(id, sealed(1), sealed(4, "two"))).toBe(false)
        expect(yield* links.reseal(id, sealed(2), sealed(4, "two"))).toBe(true)
        const { value } = yield* Effect.flatten(links.sealedOf(user_id, "oidc"))
        expect([value.key_id, ...value.ciphertext]).toStrictEqual(["two", 4])
      })
    )

    it.effect("name the index that a second one of an account, here or there, meets", () =>
      Effect.gen(function* () {
        const links = yield* UserLinkRepository
        const link = yield* aLink()
        const other = yield* aLink()
        const id = yield* (yield* Ids).next
        const met = (changes: Partial<UserLink>) => Effect.flip(links.insert({ ...link, id, ...changes }, sealed(1), noClaims))
        expect(yield* met({ linked_id: "another" })).toMatchObject({ constraint: "user_links_user_id_login_type" })
        expect(yield* Effect.flip(links.update({ ...other, linked_id: link.linked_id }, sealed(1), noClaims))).toMatchObject({
          constraint: "user_links_login_type_linked_id"
        })
        yield* aLink({ linked_id: "" })
        yield* aLink({ linked_id: "" })
        expect(yield* links.byLinkedId("oidc", "")).toStrictEqual(Option.none())
      })
    )

    it.effect("are found without reading the whole table", () =>
      Effect.gen(function* () {
        const links = yield* UserLinkRepository
        const link = yield* aLink()
        const { statements } = yield* statementsOf(
          Effect.all([
            links.byLinkedId("oidc", link.linked_id),
            links.ofUser(link.user_id, "oidc"),
            links.sealedOf(link.user_id, "oidc"),
            links.claimsOf(link.user_id, "oidc"),
            links.update(link, sealed(2), noClaims),
            links.replaceTokens(link.id, sealed(2), { ...link, value: sealed(3) }),
            links.sealedOtherwise("two", Uuid.nil, 10),
            links.reseal(link.id, sealed(3), sealed(4)),
            links.convert(link.user_id, "oidc", link.created_at)
          ])
        )
        expect(statements).toHaveLength(10)
        const plans = yield* Effect.forEach(statements, (statement) =>
          Effect.map(planOf(statement), (plan) => ({ statement: statement.text, plan }))
        )
        expect(plans.filter(({ plan }) => /\bSCAN (?!CONSTANT)|Seq Scan/.test(plan))).toStrictEqual([])
      })
    )
  })
}
