import { Chunk, Context, Effect, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { IdpSyncInForce } from "../identity/sync/IdpSyncInForce.js"
import { Users } from "../identity/users/Users.js"
import { parseUserSearch } from "../identity/users/UserSearch.js"
import type { Forbidden, Invalid, NotFound } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"
import { CustomRoleRepository } from "./CustomRoleRepository.js"
import type { Member, OrganizationMember, WithRoleNames } from "./Member.js"
import { MemberRepository } from "./MemberRepository.js"
import { parseMemberSearch } from "./MemberSearch.js"
import { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"
import { memberViews } from "./MemberViews.js"
import { memberChanges } from "./MemberChanges.js"

/** The methods of {@link Members}. */
export interface MembersService {
  /**
   * The members of an organization that the actor may read, by username, read while they are taken. Fails with `Invalid` for a search
   * that says nothing. authorization.md §7.1.
   */
  readonly list: (
    reference: string,
    search: string
  ) => Effect.Effect<Stream.Stream<WithRoleNames<Member>>, Invalid | NotFound, CurrentActor>

  /**
   * A page of the members that match a search in the language of user lists, by username. Fails with `NotFound` if the actor may not read
   * all members. Three statements at most. authorization.md §7.1.
   */
  readonly page: (
    reference: string,
    search: string,
    page: Page
  ) => Effect.Effect<{ readonly count: number; readonly members: WithRoleNames<Member>[] }, Invalid | NotFound, CurrentActor>

  /** One member. Fails with `NotFound` for users who are not members, and for memberships that the actor may not read. */
  readonly get: (reference: string, user: string) => Effect.Effect<WithRoleNames<Member>, NotFound, CurrentActor>

  /**
   * Makes a user a member. Fails with `NotFound` if the actor may not add members or read the user, `Forbidden` if members have default
   * roles that the actor may not give, and `Invalid` for a user who already is a member or whose memberships follow from claims.
   * authorization.md §7.1.
   */
  readonly add: (
    reference: string,
    userReference: string
  ) => Effect.Effect<WithRoleNames<OrganizationMember>, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Ends a membership. What the user owns in the organization stays; it leaves the organization's groups. Fails with `Invalid` for the
   * actor's own membership, `NotFound` if the actor may not remove members, and `Forbidden` if the member has a ban that the actor may
   * not lift. authorization.md §7.1.
   */
  readonly remove: (reference: string, user: string) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Replaces the roles that a member was given. Fails with `Forbidden` if the actor may not give roles, and with `Invalid` for the
   * actor's own membership, an unknown role, and a role that the actor may not give or take. authorization.md §7.1.
   */
  readonly replaceRoles: (
    reference: string,
    user: string,
    names: ReadonlyArray<string>
  ) => Effect.Effect<WithRoleNames<Member>, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const organizations = yield* Organizations
  const changes = yield* OrganizationChangeRepository
  const repository = yield* MemberRepository
  const customRoles = yield* CustomRoleRepository
  const rights = yield* RightsRepository
  const users = yield* Users
  const sync = yield* IdpSyncInForce

  const { named, namedOne, find } = memberViews({ customRoles, repository })

  return {
    list: Traced.fn("Members.list")(function* (reference: string, search: string) {
      const { id } = yield* organizations.get(reference)
      const filter = yield* parseMemberSearch(search)
      const readable = yield* Access.predicate("read", "organization_member")
      return Stream.mapChunksEffect(repository.list(id, filter, readable), (members) =>
        Effect.map(named(id, Chunk.toReadonlyArray(members)), Chunk.unsafeFromArray)
      )
    }),

    page: Traced.fn("Members.page")(function* (reference: string, search: string, page: Page) {
      const { id } = yield* organizations.get(reference)
      yield* Access.authorizeOrHide("read", AccessObjects.inOrganization("organization_member", id))
      const filter = yield* parseUserSearch(search)
      const { count, members } = yield* repository.page({ ...page, organization_id: id, filter })
      return { count, members: yield* named(id, members) }
    }),

    get: Traced.fn("Members.get")(function* (reference: string, user: string) {
      const { id } = yield* organizations.get(reference)
      return yield* namedOne(yield* find(id, user))
    }),

    ...memberChanges({ rights, changes, users, organizations, sync, repository, namedOne, find, customRoles })
  }
})

/** Members of organizations and their roles. */
export class Members extends Context.Tag("@atelier/core/Members")<Members, MembersService>() {
  static readonly layer = standingOn(service(Members, make), Organizations.layer, Users.layer, IdpSyncInForce.layer)
}
