import { Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import type { User } from "../identity/users/User.js"
import { Users } from "../identity/users/Users.js"
import { parseUserSearch } from "../identity/users/UserSearch.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { Organizations } from "../organizations/Organizations.js"
import { Invalid, NotFound, type Forbidden } from "../platform/Errors.js"
import * as Name from "../platform/texts/Name.js"
import type { Page } from "../platform/lists/Pagination.js"
import { type Uuid, parse } from "../platform/texts/Uuid.js"
import type { GroupId, GroupWithNames, GroupWithRoster } from "./Group.js"
import { GroupMemberRepository } from "./GroupMemberRepository.js"
import { type GroupFilter, GroupRepository } from "./GroupRepository.js"
import { parseGroupSearch } from "./GroupSearch.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { groupRosters } from "./GroupRosters.js"

/** The requested groups; empty fields do not restrict them. */
export interface GroupsAsked {
  /** An organization, as a path names it. */
  readonly organization: string
  /** A user, as a path names it. */
  readonly has_member: string
  readonly group_ids: ReadonlyArray<Uuid>
}

const missing = new NotFound({ resource: "group" })

const neither = new Invalid({ message: "A group must be named by its id or by its name." })

const unknown = (field: string, reference: string): Invalid =>
  Invalid.field(field, `${JSON.stringify(reference.slice(0, 64))} does not exist`, "Query parameters have invalid values.")

/** The methods of {@link Groups}. */
export interface GroupsService {
  /**
   * The groups that the actor may read, of all organizations or one, with the members whose membership it may read. Members are read
   * during the stream, some hundred with each statement. Fails with `Invalid` for an organization or a user that the actor cannot read.
   * authorization.md §8.2.
   */
  readonly list: (asked: GroupsAsked) => Effect.Effect<Stream.Stream<GroupWithRoster>, Invalid | Forbidden, CurrentActor>

  /** As `list`, of one organization. */
  readonly listInOrganization: (
    organization: string,
    asked: Omit<GroupsAsked, "organization">
  ) => Effect.Effect<Stream.Stream<GroupWithRoster>, Invalid | Forbidden | NotFound, CurrentActor>

  /**
   * The groups of an organization in pages, without members. Fails with `Forbidden` unless the actor may read all of them, and with
   * `Invalid` for an invalid search. authorization.md §8.2.
   */
  readonly page: (
    organization: string,
    search: string,
    page: Page
  ) => Effect.Effect<
    { readonly count: number; readonly groups: ReadonlyArray<GroupWithNames> },
    Invalid | Forbidden | NotFound,
    CurrentActor
  >

  /** A group by id. Fails with `NotFound` where the actor may not read it. authorization.md §8.2. */
  readonly get: (
    id: GroupId,
    input: { readonly excludeMembers: boolean }
  ) => Effect.Effect<Stream.Stream<GroupWithRoster>, Forbidden | NotFound, CurrentActor>

  /** A group of an organization by name, without regard to case. */
  readonly getByName: (
    organization: string,
    name: string,
    input: { readonly excludeMembers: boolean }
  ) => Effect.Effect<Stream.Stream<GroupWithRoster>, Forbidden | NotFound, CurrentActor>

  /**
   * The group that a path names: an id, or a name that denotes one group of all that the actor may read, in this case or else in any.
   * Without members. Fails with `Invalid` for a text that is neither. authorization.md §16.
   */
  readonly find: (reference: string) => Effect.Effect<GroupWithNames, Invalid | Forbidden | NotFound, CurrentActor>

  /** A group with those of its members whose membership the actor may read. */
  readonly withRoster: (group: GroupWithNames) => Effect.Effect<Stream.Stream<GroupWithRoster>, never, CurrentActor>

  /** Groups with all of their members: what the actor may know of them is the caller's business. */
  readonly withAllMembers: (groups: ReadonlyArray<GroupWithNames>) => Stream.Stream<GroupWithRoster>

  /**
   * The members of a group whose membership the actor may read, in pages. The count covers all matches behind `after_id`, but is 0 for an
   * empty page. Fails with `Invalid` for an invalid search. authorization.md §8.2.
   */
  readonly members: (
    id: GroupId,
    search: string,
    page: Page
  ) => Effect.Effect<{ readonly count: number; readonly users: ReadonlyArray<User> }, Invalid | Forbidden | NotFound, CurrentActor>

  /** As `members`, of a group by name. */
  readonly membersByName: (
    organization: string,
    name: string,
    search: string,
    page: Page
  ) => Effect.Effect<{ readonly count: number; readonly users: ReadonlyArray<User> }, Invalid | Forbidden | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* GroupRepository
  const memberships = yield* GroupMemberRepository
  const organizations = yield* Organizations
  const users = yield* Users

  const visible = (found: Option.Option<GroupWithNames>) => Access.visible(Option.getOrNull(found), AccessObjects.group, missing)

  const byId = (id: GroupId) => Effect.flatMap(repository.byId(id), visible)

  const byName = (organization: string, name: string) =>
    Effect.gen(function* () {
      const { id } = yield* organizations.get(organization)
      return yield* visible(yield* repository.byName(id, name))
    })

  const { withMembers, withRoster } = groupRosters({ memberships })

  const show = (group: GroupWithNames, excludeMembers: boolean) =>
    excludeMembers ? Effect.succeed(Stream.succeed<GroupWithRoster>({ ...group, members: [] })) : withRoster(group)

  const list = (filter: GroupFilter) =>
    Effect.gen(function* () {
      const groups = yield* repository.list(filter, yield* Access.predicate("read", "group"))
      return withMembers(groups, yield* Access.predicate("read", "group_member"))
    })

  const listOf = (organizationId: OrganizationId | undefined, { group_ids, has_member }: Omit<GroupsAsked, "organization">) =>
    Effect.gen(function* () {
      const member = has_member === "" ? undefined : yield* Effect.mapError(users.get(has_member), () => unknown("has_member", has_member))
      return yield* list({
        organization_id: organizationId,
        has_member: member?.id,
        ids: group_ids.length === 0 ? undefined : group_ids
      })
    })

  const members = (group: GroupWithNames, search: string, page: Page) =>
    Effect.gen(function* () {
      const filter = yield* parseUserSearch(search)
      const readable = yield* Access.predicate("read", "group_member")
      return yield* memberships.page({ ...page, group, filter, readable })
    })

  return {
    list: Traced.fn("Groups.list")(function* (asked: GroupsAsked) {
      yield* requireFeature("template_rbac")
      const organization =
        asked.organization === ""
          ? undefined
          : yield* Effect.mapError(organizations.get(asked.organization), () => unknown("organization", asked.organization))
      return yield* listOf(organization?.id, asked)
    }),

    listInOrganization: Traced.fn("Groups.listInOrganization")(function* (organization: string, asked: Omit<GroupsAsked, "organization">) {
      yield* requireFeature("template_rbac")
      const { id } = yield* organizations.get(organization)
      return yield* listOf(id, asked)
    }),

    page: Traced.fn("Groups.page")(function* (organization: string, search: string, page: Page) {
      yield* requireFeature("template_rbac")
      const { id } = yield* organizations.get(organization)
      yield* Access.authorize("read", AccessObjects.inOrganization("group", id))
      const { search: part } = yield* parseGroupSearch(search)
      return yield* repository.page({ ...page, organization_id: id, search: part })
    }),

    get: Traced.fn("Groups.get")(function* (id: GroupId, { excludeMembers }: { readonly excludeMembers: boolean }) {
      yield* requireFeature("template_rbac")
      return yield* show(yield* byId(id), excludeMembers)
    }),

    getByName: Traced.fn("Groups.getByName")(function* (
      organization: string,
      name: string,
      { excludeMembers }: { readonly excludeMembers: boolean }
    ) {
      yield* requireFeature("template_rbac")
      return yield* show(yield* byName(organization, name), excludeMembers)
    }),

    find: Traced.fn("Groups.find")(function* (reference: string) {
      yield* requireFeature("template_rbac")
      const id = parse(reference)
      if (id !== undefined) return yield* byId(id)
      const found = yield* repository.list({ name: reference }, yield* Access.predicate("read", "group"))
      const exact = found.filter(({ name }) => name === reference)
      const [only, ...others] = exact.length > 0 ? exact : found
      if (only !== undefined && others.length === 0) return only
      return yield* Name.violation(reference) === undefined ? missing : neither
    }),

    withRoster,

    withAllMembers: (groups: ReadonlyArray<GroupWithNames>) => withMembers(groups, AccessPredicate.True()),

    members: Traced.fn("Groups.members")(function* (id: GroupId, search: string, page: Page) {
      yield* requireFeature("template_rbac")
      return yield* members(yield* byId(id), search, page)
    }),

    membersByName: Traced.fn("Groups.membersByName")(function* (organization: string, name: string, search: string, page: Page) {
      yield* requireFeature("template_rbac")
      return yield* members(yield* byName(organization, name), search, page)
    })
  }
})

/** The groups of organizations, and who is in them. */
export class Groups extends Context.Tag("@atelier/core/Groups")<Groups, GroupsService>() {
  static readonly layer = standingOn(service(Groups, make), Organizations.layer, Users.layer)
}
