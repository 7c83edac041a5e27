import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { UserId } from "../identity/users/User.js"
import type { OrganizationId } from "../organizations/Organization.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"
import type { Group, GroupId, GroupSettings, GroupWithNames } from "./Group.js"

/** The filter of a list of groups. Absent fields do not restrict it. */
export interface GroupFilter {
  readonly organization_id?: OrganizationId | undefined
  readonly ids?: ReadonlyArray<GroupId> | undefined
  /** Exactly, but for case. */
  readonly name?: string | undefined
  /** A user that is in it, in Everyone too. */
  readonly has_member?: UserId | undefined
}

export interface GroupQuery extends Page {
  readonly organization_id: OrganizationId
  /** A part of the name or the display name, in lower case. */
  readonly search?: string | undefined
}

/** Groups of organizations that are not deleted. */
export class GroupRepository extends Context.Tag("@atelier/core/GroupRepository")<
  GroupRepository,
  {
    readonly byId: (id: GroupId) => Effect.Effect<Option.Option<GroupWithNames>>
    /** As `byId`, without the fields of its organization and its members. */
    readonly find: (id: GroupId) => Effect.Effect<Option.Option<Group>>
    /** By name: in this case, or else in any. */
    readonly byName: (organizationId: OrganizationId, name: string) => Effect.Effect<Option.Option<GroupWithNames>>
    /** Those the predicate admits, by name without regard to case. */
    readonly list: (filter: GroupFilter, readable: AccessPredicate) => Effect.Effect<ReadonlyArray<GroupWithNames>>
    /** By name without regard to case, then id. The count is as in lists of users. */
    readonly page: (query: GroupQuery) => Effect.Effect<{ readonly count: number; readonly groups: ReadonlyArray<GroupWithNames> }>
    /**
     * Locks an organization against deletion, and the names of its groups against other changes, until the transaction ends; false if it
     * is already deleted.
     */
    readonly lockOrganization: (id: OrganizationId) => Effect.Effect<boolean>
    /** The current group, locked against other writers until the transaction ends. */
    readonly lock: (id: GroupId) => Effect.Effect<Option.Option<Group>>
    /** Like `lock`; in addition, the group gets no new members and no new ACL entries. */
    readonly lockForDeletion: (id: GroupId) => Effect.Effect<Option.Option<Group>>
    /** Fails with the index `groups_organization_id_name`. */
    readonly insert: (group: Group) => Effect.Effect<void, Duplicate>
    /** Fails with the index `groups_organization_id_name`. */
    readonly update: (group: GroupSettings & Pick<Group, "id">) => Effect.Effect<void, Duplicate>
    /**
     * Deletes the group with its own rows and its entries in ACLs of templates and workspaces; the number of statements does not grow with
     * them.
     */
    readonly delete: (id: GroupId) => Effect.Effect<void>
  }
>() {}
