import { Context, type Effect, type Option, type Stream } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { UserId } from "../identity/users/User.js"
import type { UserFilter } from "../identity/users/UserDirectoryRepository.js"
import type { Page } from "../platform/lists/Pagination.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Member, OrganizationMember } from "./Member.js"
import type { MemberFilter } from "./MemberSearch.js"
import type { OrganizationId } from "./Organization.js"

export interface OrganizationMemberQuery extends Page {
  readonly organization_id: OrganizationId
  readonly filter: UserFilter
}

export interface MemberPage {
  /** All that match behind `after_id`, whatever `limit` and `offset`; 0 when the page is empty. */
  readonly count: number
  readonly members: ReadonlyArray<Member>
}

/** Members of organizations. Deleted users are never members. */
export class MemberRepository extends Context.Tag("@atelier/core/MemberRepository")<
  MemberRepository,
  {
    /** Those that the filter matches and the predicate, of type `organization_member`, admits; by username without regard to case. */
    readonly list: (organizationId: OrganizationId, filter: MemberFilter, readable: AccessPredicate) => Stream.Stream<Member>
    /**
     * A page of the members that are not the service's own users, by username without regard to case. `after_id` names a member; for any
     * other id the page is empty. Two statements at most.
     */
    readonly page: (query: OrganizationMemberQuery) => Effect.Effect<MemberPage>
    /** A member who is not one of the service's own users. */
    readonly byId: (organizationId: OrganizationId, userId: UserId) => Effect.Effect<Option.Option<Member>>
    /** The same by username without regard to case. */
    readonly byUsername: (organizationId: OrganizationId, username: string) => Effect.Effect<Option.Option<Member>>
    /** Makes a user a member. Returns false if it already is one or is deleted. */
    readonly insert: (membership: OrganizationMember) => Effect.Effect<boolean>
    /** Ends a membership; false if it does not exist. */
    readonly delete: (organizationId: OrganizationId, userId: UserId) => Effect.Effect<boolean>
    /** Replaces the roles of a member; false if the membership does not exist. */
    readonly updateRoles: (
      membership: Pick<OrganizationMember, "organization_id" | "user_id" | "roles" | "updated_at">
    ) => Effect.Effect<boolean>
    /** Takes a role from every member who was given it. */
    readonly withdrawRole: (organizationId: OrganizationId, role: string, at: Timestamp) => Effect.Effect<void>
  }
>() {}
