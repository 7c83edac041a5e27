import { Context, Effect, Layer, Option } from "effect"
import { AccessPredicate } from "../access/AccessPredicate.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { GitSshKeyRepository } from "../identity/secrets/GitSshKey.js"
import type { User } from "../identity/users/User.js"
import type { Uuid } from "../platform/Uuid.js"
import type { BuildMetadata } from "../provisioning/ProvisionerEngine.js"

const make = Effect.gen(function* () {
  const groups = yield* GroupRepository
  const sshKeys = yield* GitSshKeyRepository

  return {
    /** What an engine is told of the owner of a workspace in an organization. Two statements. */
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
        owner_ssh_public_key: Option.match(key, { onNone: () => "", onSome: ({ public_key }) => public_key })
      } satisfies Partial<BuildMetadata>
    })
  }
})

/** What engines are told of owners. */
export class OwnerMetadata extends Context.Tag("@atelier/core/OwnerMetadata")<OwnerMetadata, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(OwnerMetadata, make)
}
