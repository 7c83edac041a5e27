import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { meAlias, type UserWithOrganizations } from "../identity/users/User.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { NotFound } from "../platform/Errors.js"
import { parse, type Uuid } from "../platform/texts/Uuid.js"
import { missingWorkspace } from "./Workspace.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"

const missing = new NotFound({ resource: "user" })

/** The methods of {@link WorkspaceOwners}. */
export interface WorkspaceOwnersService {
  /** The user that a path or query names, by `me`, an id or a username, unless it is deleted. Callers check permissions. */
  readonly find: (reference: string) => Effect.Effect<Option.Option<UserWithOrganizations>, never, CurrentActor>

  /** The user a path names. Fails with `NotFound` where the actor may read neither the user nor a membership of it. */
  readonly known: (reference: string) => Effect.Effect<UserWithOrganizations, NotFound, CurrentActor>

  /** Fails with `NotFound` unless the actor may read the user's membership of the organization. */
  readonly requireMember: (user: UserWithOrganizations, organizationId: Uuid) => Effect.Effect<undefined, NotFound, CurrentActor>

  /** Fails with `NotFound` unless the actor may read the user, or the user's membership of the organization. workspaces.md §3.1. */
  readonly requireReadableIn: (user: UserWithOrganizations, organizationId: Uuid) => Effect.Effect<undefined, NotFound, CurrentActor>

  /**
   * The workspace with this name of the user a path names, if the actor may read the user, or one of the user's memberships. Whether
   * the actor may read the workspace is the caller's business. Fails with `NotFound`. workspaces.md §3.2.
   */
  readonly workspaceId: (reference: string, name: string, includeDeleted: boolean) => Effect.Effect<Uuid, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const workspaces = yield* WorkspaceRepository

  const canReadMembership = (user: UserWithOrganizations, organizationId: Uuid) =>
    user.organization_ids.includes(organizationId)
      ? Access.can("read", AccessObjects.organizationMember({ user_id: user.id, organization_id: organizationId }))
      : Effect.succeed(false)

  const canRead = (user: UserWithOrganizations) => Access.can("read", AccessObjects.user(user))

  const find = Traced.fn("WorkspaceOwners.find")(function* (reference: string) {
    const id = reference === meAlias ? (yield* CurrentActor).userId : parse(reference)
    const user = yield* id === undefined ? users.byUsername(reference) : users.byId(id)
    return Option.filter(user, ({ deleted }) => !deleted)
  })

  const known = Traced.fn("WorkspaceOwners.known")(function* (reference: string) {
    const user = Option.getOrUndefined(yield* find(reference))
    if (user === undefined) return yield* missing
    const isMemberOfReadable = Effect.exists(user.organization_ids, (organizationId) => canReadMembership(user, organizationId))
    return (yield* canRead(user)) || (yield* isMemberOfReadable) ? user : yield* missing
  })

  return {
    find,

    known,

    requireMember: Traced.fn("WorkspaceOwners.requireMember")(function* (user: UserWithOrganizations, organizationId: Uuid) {
      if (!(yield* canReadMembership(user, organizationId))) return yield* missing
    }),

    requireReadableIn: Traced.fn("WorkspaceOwners.requireReadableIn")(function* (user: UserWithOrganizations, organizationId: Uuid) {
      if (!(yield* canRead(user)) && !(yield* canReadMembership(user, organizationId))) return yield* missing
    }),

    workspaceId: Traced.fn("WorkspaceOwners.workspaceId")(function* (reference: string, name: string, includeDeleted: boolean) {
      const user = yield* known(reference)
      const id = Option.getOrUndefined(yield* workspaces.idByName(user.id, name, includeDeleted))
      return id ?? (yield* missingWorkspace)
    })
  }
})

/** The owners that paths of workspaces name. Reading that a user is a member of an organization does not take the right to read the user. */
export class WorkspaceOwners extends Context.Tag("@atelier/core/WorkspaceOwners")<WorkspaceOwners, WorkspaceOwnersService>() {
  static readonly layer = service(WorkspaceOwners, make)
}
