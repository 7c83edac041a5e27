/** Port: what the store knows of the owner of a workspace beside the user. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../organizations/Organization.js"
import type { UserId } from "../../identity/users/User.js"

/** A user as the owner of workspaces in one organization. */
export interface StoredOwner {
  /** One line of an `authorized_keys` file; null without a key. */
  readonly public_key: string | null
  /** The names of the user's groups in the organization, the one of all members included. */
  readonly groups: ReadonlyArray<string>
  /** The roles that the user was given in the organization; null for a user that is not its member. */
  readonly organization_roles: ReadonlyArray<string> | null
  /** The roles that all members of the organization have. */
  readonly member_roles: ReadonlyArray<string>
}

export class OwnerMetadataRepository extends Context.Tag("@atelier/core/OwnerMetadataRepository")<
  OwnerMetadataRepository,
  {
    /** A stored user in an organization. A deleted organization has no members. */
    readonly of: (id: UserId, organizationId: OrganizationId) => Effect.Effect<StoredOwner>
  }
>() {}
