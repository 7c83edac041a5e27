import { GitSshKeyRepository, UserRepository } from "@atelier/core/identity"
import { type Group, GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { MemberRepository, OrganizationChangeRepository, OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { OwnerMetadataRepository } from "@atelier/core/templates"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

/** A user and an organization, both stored. */
const people = Effect.gen(function* () {
  const user = yield* aUser()
  const organization = yield* anOrganization({ default_org_member_roles: ["organization-auditor"] })
  yield* (yield* UserRepository).insert(user, null)
  yield* (yield* OrganizationRepository).insert(organization)
  return { user, organization }
})

const aGroup = (organization_id: Uuid.Uuid, name: string, members: ReadonlyArray<Uuid.Uuid>) =>
  Effect.gen(function* () {
    const { id } = yield* anOrganization()
    const group: Group = { id, organization_id, name, display_name: "", avatar_url: "", quota_allowance: 0, source: "user" }
    yield* (yield* GroupRepository).insert(group)
    if (members.length > 0) yield* (yield* GroupMemberRepository).add(id, members)
  })

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the owners of workspaces on ${name}`, (it) => {
    it.effect("are read with their key, their groups and their roles of one organization", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const other = yield* people
        const now = yield* Timestamp.now
        const membership = { user_id: user.id, created_at: now, updated_at: now }
        const members = yield* MemberRepository
        yield* members.insert({ ...membership, organization_id: organization.id, roles: ["organization-admin"] })
        yield* members.insert({ ...membership, organization_id: other.organization.id, roles: ["organization-template-admin"] })
        yield* aGroup(organization.id, "Writers", [user.id])
        yield* aGroup(organization.id, "crew", [user.id])
        yield* aGroup(organization.id, "others", [])
        yield* aGroup(other.organization.id, "elsewhere", [user.id])
        const key = { user_id: user.id, created_at: now, updated_at: now, public_key: "ssh-ed25519 A\n" }
        yield* (yield* GitSshKeyRepository).store(key, { key_id: "key", ciphertext: new Uint8Array([1]) })

        const { of } = yield* OwnerMetadataRepository
        expect(yield* of(user.id, organization.id)).toStrictEqual({
          public_key: "ssh-ed25519 A\n",
          groups: ["crew", "Everyone", "Writers"],
          organization_roles: ["organization-admin"],
          member_roles: ["organization-auditor"]
        })
      })
    )

    it.effect("have no roles and groups where they are no members", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const { of } = yield* OwnerMetadataRepository
        const nothing = { public_key: null, groups: [], organization_roles: null }
        expect(yield* of(user.id, organization.id)).toStrictEqual({ ...nothing, member_roles: ["organization-auditor"] })
        expect(yield* of(user.id, user.id)).toStrictEqual({ ...nothing, member_roles: [] })
      })
    )

    it.effect("have no roles and groups in a deleted organization", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const now = yield* Timestamp.now
        const membership = { organization_id: organization.id, user_id: user.id, created_at: now, updated_at: now, roles: [] }
        yield* (yield* MemberRepository).insert(membership)
        yield* (yield* OrganizationChangeRepository).delete(organization.id, now)
        const found = yield* (yield* OwnerMetadataRepository).of(user.id, organization.id)
        expect(found).toMatchObject({ groups: [], organization_roles: null })
      })
    )
  })
}
