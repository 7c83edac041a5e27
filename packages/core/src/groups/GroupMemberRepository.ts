import { Context, type Effect, type Stream } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { User, UserId } from "../identity/users/User.js"
import type { UserFilter } from "../identity/users/UserDirectoryRepository.js"
import type { OrganizationId } from "../organizations/Organization.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"
import type { Group, GroupId } from "./Group.js"

export interface MemberQuery extends Page {
  readonly group: Pick<Group, "id" | "organization_id">
  readonly filter: UserFilter
  /** Of type `group_member` and action `read`. */
  readonly readable: AccessPredicate
}

/** A user, and a group that it is in. */
export interface RosterEntry extends User {
  readonly group_id: GroupId
}

/** The members of groups: users that are neither deleted nor the service's own. Those of Everyone are its organization's. */
export class GroupMemberRepository extends Context.Tag("@atelier/core/GroupMemberRepository")<
  GroupMemberRepository,
  {
    /** The members of a group that the predicate admits, by username without regard to case: a statement for some hundred of them. */
    readonly roster: (group: Pick<Group, "id" | "organization_id">, readable: AccessPredicate) => Stream.Stream<User>
    /** The members of groups that the predicate admits, by username: one statement, for any number of groups. */
    readonly rosters: (ids: ReadonlyArray<GroupId>, readable: AccessPredicate) => Effect.Effect<ReadonlyArray<RosterEntry>>
    /** How many entries `rosters` would answer; counted no further than to the bound. */
    readonly rosterLength: (ids: ReadonlyArray<GroupId>, readable: AccessPredicate, bound: number) => Effect.Effect<number>
    /**
     * The members that the predicate admits and the filter matches, by username. The count is as in lists of users, but
     * without regard to the predicate.
     */
    readonly page: (query: MemberQuery) => Effect.Effect<{ readonly count: number; readonly users: ReadonlyArray<User> }>
    /** The ids of those who were put into a group, of all or of some users; none for Everyone. */
    readonly ids: (id: GroupId, users?: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserId>>
    /**
     * Locks the given users that are members of an organization against changes until the transaction ends, as `add` does. Call it
     * before locking groups: changes of users lock in that order.
     */
    readonly lock: (organizationId: OrganizationId, ids: ReadonlyArray<UserId>) => Effect.Effect<void>
    /** Which of the users are members of the organization; they stay until the transaction ends. */
    readonly among: (organizationId: OrganizationId, ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserId>>
    /** Fails when one is in the group already. */
    readonly add: (id: GroupId, userIds: ReadonlyArray<UserId>) => Effect.Effect<void, Duplicate>
    readonly remove: (id: GroupId, userIds: ReadonlyArray<UserId>) => Effect.Effect<void>
  }
>() {}
