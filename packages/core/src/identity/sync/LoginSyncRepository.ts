import { Context, type Effect } from "effect"
import type { Group, GroupId } from "../../groups/Group.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { UserId } from "../users/User.js"

/** A membership in an organization that is not deleted, and what of that organization decides about roles and groups. */
export interface SyncedMembership {
  readonly organization_id: OrganizationId
  readonly is_default: boolean
  readonly default_org_member_roles: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

/** Groups of one organization that are looked for. */
export interface SoughtGroups {
  readonly organization_id: OrganizationId
  readonly ids: ReadonlyArray<GroupId>
  readonly names: ReadonlyArray<string>
}

/** Reads and writes of a login on one user's memberships, groups and roles; each is one statement, for any number of rows. */
export class LoginSyncRepository extends Context.Tag("@atelier/core/LoginSyncRepository")<
  LoginSyncRepository,
  {
    /** By organization. */
    readonly memberships: (userId: UserId) => Effect.Effect<ReadonlyArray<SyncedMembership>>
    /** Those of the organizations that are not deleted; they stay until the transaction ends. */
    readonly lockOrganizations: (ids: ReadonlyArray<OrganizationId>) => Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Makes a user a member without explicit roles. */
    readonly join: (userId: UserId, ids: ReadonlyArray<OrganizationId>, at: Timestamp) => Effect.Effect<void>
    /** Ends memberships, and with them what goes with them. */
    readonly leave: (userId: UserId, ids: ReadonlyArray<OrganizationId>) => Effect.Effect<void>
    /** Replaces the explicit roles of a membership. */
    readonly updateRoles: (
      userId: UserId,
      organizationId: OrganizationId,
      roles: ReadonlyArray<string>,
      at: Timestamp
    ) => Effect.Effect<void>
    /** The groups of these organizations that a user was put into. */
    readonly groupsOf: (userId: UserId, organizationIds: ReadonlyArray<OrganizationId>) => Effect.Effect<ReadonlyArray<GroupId>>
    /** The groups found, by id or by exact name; never Everyone. */
    readonly findGroups: (
      sought: ReadonlyArray<SoughtGroups>
    ) => Effect.Effect<ReadonlyArray<Pick<Group, "id" | "organization_id" | "name">>>
    /** Makes groups; nothing happens where there is one of the name. */
    readonly createGroups: (groups: ReadonlyArray<Group>) => Effect.Effect<void>
    /** Adds a user to the groups that still exist, in organizations that the user still belongs to. */
    readonly enter: (userId: UserId, ids: ReadonlyArray<GroupId>) => Effect.Effect<void>
    readonly exit: (userId: UserId, ids: ReadonlyArray<GroupId>) => Effect.Effect<void>
  }
>() {}
