import {
  ClaimRepository,
  IdpSyncRepository,
  LinkClaims,
  LoginSyncRepository,
  noClaims,
  UserLinkRepository,
  UserRepository
} from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"

/** A member who logs in by OpenID Connect, with these claims. */
const aLinkedMember = (claims: LinkClaims["merged_claims"]) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const [user, organization] = [yield* aUser({ login_type: "oidc" }), yield* anOrganization()]
    yield* (yield* UserRepository).insert(user, null)
    yield* (yield* OrganizationRepository).insert(organization)
    yield* (yield* LoginSyncRepository).join(user.id, [organization.id], now)
    const id = yield* (yield* Ids).next
    const link = { id, user_id: user.id, login_type: "oidc", linked_id: id, oauth_expiry: null, created_at: now, updated_at: now } as const
    const sealed = { key_id: "k", ciphertext: new Uint8Array([1]) }
    yield* (yield* UserLinkRepository).insert(link, sealed, { ...noClaims, merged_claims: claims })
    return { user, organization, now }
  })

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`what logins ask of ${name}`, (it) => {
    it.effect("reads no whole table", () =>
      Effect.gen(function* () {
        const { now, organization, user } = yield* aLinkedMember({})
        const sync = yield* LoginSyncRepository
        const settings = yield* IdpSyncRepository
        const claims = yield* ClaimRepository
        const key = { kind: "group", organization_id: organization.id } as const
        const { statements } = yield* statementsOf(
          Effect.all([
            settings.find("group", [organization.id]),
            settings.lock(key, now),
            settings.write(key, {}, now),
            sync.memberships(user.id),
            sync.lockOrganizations([organization.id]),
            sync.updateRoles(user.id, organization.id, [], now),
            sync.groupsOf(user.id, [organization.id]),
            sync.findGroups([{ organization_id: organization.id, ids: [user.id], names: ["a"] }]),
            sync.enter(user.id, [user.id]),
            sync.exit(user.id, [user.id]),
            sync.leave(user.id, [user.id]),
            claims.names({ organization_id: organization.id, limit: 10 })
          ])
        )
        const plans = yield* Effect.forEach(statements, planOf)
        for (const plan of plans)
          expect(plan).not.toMatch(
            /Seq Scan|\bSCAN (?:users|user_links|[kgmou]|groups|organizations|organization_members|group_members|idp_sync_settings)\b(?! USING)/
          )
      })
    )

    it.effect("are claims that it may not be able to hold", () =>
      Effect.gen(function* () {
        const claims = yield* ClaimRepository
        const { organization } = yield* aLinkedMember({ "a\0b": ["x"], groups: ["\0", "\ud800"] })
        yield* aLinkedMember({ groups: ["fine", "\\u0001"], "two words": "a" })
        expect(yield* claims.values("groups", { limit: 10 })).toContain("fine")
        expect(yield* claims.names({ limit: 1 })).toHaveLength(1)
        expect((yield* claims.names({ organization_id: organization.id, limit: 10 })).length).toBeLessThanOrEqual(2)
      })
    )
  })
}
