import { Context, Effect, Layer, Option } from "effect"
import { AccessPredicate } from "../access/AccessPredicate.js"
import { organizationMember } from "../access/OrganizationSystemRoles.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { GitSshKeyRepository } from "../identity/secrets/GitSshKey.js"
import { AccountRepository } from "../identity/users/AccountRepository.js"
import type { User } from "../identity/users/User.js"
import { OrganizationRepository } from "../organizations/OrganizationRepository.js"
import type { Uuid } from "../platform/Uuid.js"
import type { BuildMetadata } from "../provisioning/ProvisionerEngine.js"

const make = Effect.gen(function* () {
  const groups = yield* GroupRepository
  const sshKeys = yield* GitSshKeyRepository
  const accounts = yield* AccountRepository
  const organizations = yield* OrganizationRepository

  /** Roles of the deployment first; those that follow from the membership stand before those that were given. */
  const rolesOf = (owner: User, organizationId: Uuid) =>
    Effect.gen(function* () {
      const given = (yield* accounts.organizationRoles(owner.id)).find(({ organization_id }) => organization_id === organizationId)
      const organization = Option.getOrUndefined(yield* organizations.byId(organizationId))
      const ofMember = given === undefined ? [] : [organizationMember, ...(organization?.default_org_member_roles ?? []), ...given.roles]
      return [
        ...[...owner.rbac_roles, "member"].map((name) => ({ name, org_id: "" })),
        ...Array.from(new Set(ofMember), (name) => ({ name, org_id: organizationId }))
      ]
    })

  return {
    /** What an engine is told of the owner of a workspace in an organization. Four statements. */
    of: Effect.fn("OwnerMetadata.of")(function* (owner: User, organizationId: Uuid) {
      const key = yield* sshKeys.ofUser(owner.id)
      const ofOwner = yield* groups.list({ organization_id: organizationId, has_member: owner.id }, AccessPredicate.True())
      return {
        owner_id: owner.id,
        owner_username: owner.username,
        owner_name: owner.name,
        owner_email: owner.email,
        owner_login_type: owner.login_type,
        owner_groups: ofOwner.map(({ name }) => name),
        owner_rbac_roles: yield* rolesOf(owner, organizationId),
        owner_ssh_public_key: Option.match(key, { onNone: () => "", onSome: ({ public_key }) => public_key })
      } satisfies Partial<BuildMetadata>
    })
  }
})

/** What engines are told of owners. */
export class OwnerMetadata extends Context.Tag("@atelier/core/OwnerMetadata")<OwnerMetadata, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(OwnerMetadata, make)
}
