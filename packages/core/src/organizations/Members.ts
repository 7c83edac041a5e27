import { Chunk, Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { isBuiltIn, organizationRole } from "../access/roles/Roles.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { memberAudit } from "./MemberAudit.js"
import { IdpSyncInForce } from "../identity/sync/IdpSyncInForce.js"
import { meAlias } from "../identity/users/User.js"
import { Users } from "../identity/users/Users.js"
import { parseUserSearch } from "../identity/users/UserSearch.js"
import { Forbidden, Invalid, NotFound } from "../platform/Errors.js"
import { isName } from "../platform/texts/Name.js"
import type { Page } from "../platform/lists/Pagination.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { parse } from "../platform/texts/Uuid.js"
import { CustomRoleRepository } from "./CustomRoleRepository.js"
import type { Member, OrganizationMember, WithRoleNames } from "./Member.js"
import { MemberRepository } from "./MemberRepository.js"
import { memberRolesRefusal, noMember, requireAdmission, requireRelease } from "./MemberRoles.js"
import { parseMemberSearch } from "./MemberSearch.js"
import { missingOrganization, type Organization, type OrganizationId } from "./Organization.js"
import { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { permitted } from "./CurrentRights.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"

/** The most roles that a member is given. */
const maximumRoles = 100

const unknownRole = (name: string): Invalid =>
  Invalid.field("roles", `${JSON.stringify(name.slice(0, 64))} is not a role of members of the organization`)

const subjectOf = (action: AuditAction, member: Pick<Member, "organization_id" | "user_id" | "username">) => ({
  action,
  resource: memberAudit,
  id: member.user_id,
  target: member.username,
  organization_id: member.organization_id
})

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

  const named = <A extends OrganizationMember>(organizationId: OrganizationId, members: ReadonlyArray<A>) =>
    Effect.gen(function* () {
      const names = new Set(members.flatMap(({ roles }) => roles).filter((name) => !isBuiltIn(name)))
      const custom = new Map((yield* customRoles.named(organizationId, Array.from(names))).map((role) => [role.name, role.display_name]))
      return members.map((member): WithRoleNames<A> => ({
        ...member,
        roles: member.roles.map((name) => ({
          name,
          display_name: organizationRole(name)?.display_name ?? custom.get(name) ?? "",
          organization_id: organizationId
        }))
      }))
    })

  const namedOne = <A extends OrganizationMember>(member: A) =>
    Effect.map(named(member.organization_id, [member]), ([only]) => only ?? { ...member, roles: [] })

  /** The member that a path names. Reading a membership does not require the right to read the user. */
  const find = (organizationId: OrganizationId, reference: string) =>
    Effect.gen(function* () {
      const id = reference === meAlias ? (yield* CurrentActor).userId : parse(reference)
      const found =
        id !== undefined
          ? yield* repository.byId(organizationId, id)
          : isName(reference)
            ? yield* repository.byUsername(organizationId, reference)
            : Option.none()
      return yield* Access.visible(Option.getOrNull(found), AccessObjects.organizationMember, noMember)
    })

  /** Runs a change of the organization's members or their roles, locked against concurrent ones. */
  const changing = <A, E1, E2, R1, R2>(
    id: OrganizationId,
    permit: Effect.Effect<void, E1, R1>,
    change: (organization: Organization) => Effect.Effect<A, E2, R2>
  ) =>
    permitted(rights)(
      permit,
      Effect.mapError(Effect.flatten(changes.lock(id)), () => missingOrganization),
      change
    )

  /** Fails with `Invalid` where the member is the actor itself. */
  const refuseSelf = (member: Pick<Member, "user_id">, message: string) =>
    Effect.flatMap(CurrentActor, ({ userId }) => (member.user_id === userId ? new Invalid({ message }) : Effect.void))

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

    add: Traced.fn("Members.add")(function* (reference: string, userReference: string) {
      const user = yield* users.get(userReference)
      if (user.deleted || user.is_system) return yield* new NotFound({ resource: "user" })
      const { id: organization_id } = yield* organizations.get(reference)
      const now = yield* Timestamp.now
      const membership: OrganizationMember = { organization_id, user_id: user.id, created_at: now, updated_at: now, roles: [] }
      return yield* Audit.audited(
        subjectOf("create", { organization_id, user_id: user.id, username: user.username }),
        changing(
          organization_id,
          Access.authorizeOrHide("create", AccessObjects.organizationMember(membership), noMember),
          (organization) =>
            Effect.gen(function* () {
              yield* requireAdmission(organization)
              if (user.login_type === "oidc" && sync.isOn("organization", yield* sync.organizations)) {
                return yield* new Invalid({ message: "The memberships of this user follow from the claims of its identity provider." })
              }
              if (!(yield* repository.insert(membership))) {
                const isMember = Option.isSome(yield* repository.byId(organization_id, user.id))
                return yield* isMember
                  ? new Invalid({ message: "The user is a member of the organization already." })
                  : new NotFound({ resource: "user" })
              }
              return { value: yield* namedOne(membership), after: { ...membership, username: user.username } }
            })
        )
      )
    }),

    remove: Traced.fn("Members.remove")(function* (reference: string, user: string) {
      const { id } = yield* organizations.get(reference)
      const found = yield* find(id, user)
      yield* Audit.audited(
        subjectOf("delete", found),
        changing(
          id,
          Effect.zipRight(
            refuseSelf(found, "You cannot remove yourself."),
            Access.authorizeOrHide("delete", AccessObjects.organizationMember(found), noMember)
          ),
          () =>
            Effect.gen(function* () {
              const before = yield* Effect.mapError(Effect.flatten(repository.byId(id, found.user_id)), () => noMember)
              yield* requireRelease(id, before.roles)
              if (!(yield* repository.delete(id, found.user_id))) return yield* noMember
              return { value: undefined, before }
            })
        )
      )
    }),

    replaceRoles: Traced.fn("Members.replaceRoles")(function* (reference: string, user: string, names: ReadonlyArray<string>) {
      const { id } = yield* organizations.get(reference)
      const found = yield* find(id, user)
      return yield* Audit.audited(
        subjectOf("write", found),
        changing(
          id,
          Effect.zipRight(
            refuseSelf(found, "You cannot change your own roles."),
            Access.authorize("assign", AccessObjects.inOrganization("assign_org_role", id))
          ),
          (organization) =>
            Effect.gen(function* () {
              const { subject } = yield* CurrentActor
              if (found.login_type === "oidc" && sync.isOn("role", yield* sync.settingsOf(sync.definitions.role, organization))) {
                return yield* new Invalid({ message: "The roles of this member follow from the claims of its identity provider." })
              }
              const before = yield* Effect.mapError(Effect.flatten(repository.byId(id, found.user_id)), () => noMember)
              const roles = Array.from(new Set(names))
              if (roles.length > maximumRoles) return yield* Invalid.field("roles", `must be at most ${maximumRoles}`)
              const custom = yield* customRoles.named(
                id,
                roles.filter((name) => !isBuiltIn(name))
              )
              const unknown = roles.find((name) => organizationRole(name) === undefined && !custom.some((role) => role.name === name))
              if (unknown !== undefined) return yield* unknownRole(unknown)
              const refusal = memberRolesRefusal(subject, organization, { before: before.roles, after: roles, custom })
              if (refusal?._tag === "NotPermitted") return yield* new Forbidden()
              if (refusal !== null) return yield* Invalid.field("roles", `you may not give or take ${refusal.roles.join(", ")}`)
              const after: Member = { ...before, roles, updated_at: yield* Timestamp.now }
              if (!(yield* repository.updateRoles(after))) return yield* noMember
              // The entry tells of the roles alone
              return { value: yield* namedOne(after), before, after: { ...before, roles } }
            })
        )
      )
    })
  }
})

/** Members of organizations and their roles. */
export class Members extends Context.Tag("@atelier/core/Members")<Members, MembersService>() {
  static readonly layer = standingOn(service(Members, make), Organizations.layer, Users.layer, IdpSyncInForce.layer)
}
