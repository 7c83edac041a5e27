import { Context, Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CurrentActor, withActor } from "../../access/actors/Actor.js"
import { permits } from "../../access/decisions/Decision.js"
import { atMillis } from "../../platform/time/AtMillis.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Conflict, Invalid, NotFound, refuseViolations, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { isName } from "../../platform/texts/Name.js"
import type { Page } from "../../platform/lists/Pagination.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { parse, type Uuid } from "../../platform/texts/Uuid.js"
import { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import { readsMemberships, withReadableMemberships } from "./Memberships.js"
import * as OwnUser from "./OwnUser.js"
import { violation } from "../passwords/Password.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import { meAlias, ownerRole, profileViolations, newUser, type UserWithOrganizations } from "./User.js"
import { UserDirectoryRepository } from "./UserDirectoryRepository.js"
import { UserRepository } from "./UserRepository.js"
import { parseUserSearch } from "./UserSearch.js"
import { type SetupCaller, SetupTokens } from "./SetupTokens.js"
import { service, standingOn, together } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** The first owner of a deployment. Fields that are absent on the wire are empty here. */
export interface FirstUser {
  readonly email: string
  readonly username: string
  readonly name: string
  readonly password: Redacted.Redacted<string>
}

/** The methods of {@link Users}. */
export interface UsersService {
  /**
   * The user a path names: `me`, an id (of a deleted user too), or a username without regard to case; with the memberships the actor
   * may read. Fails with `NotFound` where the actor may not read it. identity.md §4, §8.3.
   */
  readonly get: (reference: string) => Effect.Effect<UserWithOrganizations, NotFound, CurrentActor>

  /**
   * The same without an effect, for an actor that is asked about itself: the user that was read with its credential. Undefined where `get` has to decide, which
   * every refusal is left to.
   */
  readonly getNow: (reference: string, actor: Actor) => UserWithOrganizations | undefined

  /**
   * The user a path names, whose own objects are asked for. Fails with `NotFound` where the user may not be read, also for a token that may
   * not read its own user.
   */
  readonly holder: (reference: string) => Effect.Effect<UserWithOrganizations, NotFound, CurrentActor>

  /**
   * The users the actor may read that match a search, by username: a plain member finds itself alone. Fails with `Invalid` for a search
   * that says nothing, naming each filter that is wrong. identity.md §10.
   */
  readonly list: (
    search: string,
    page: Page
  ) => Effect.Effect<{ readonly count: number; readonly users: ReadonlyArray<UserWithOrganizations> }, Invalid, CurrentActor>

  /** Fails with `NotFound` until the first user exists. identity.md §5. */
  readonly requireFirst: () => Effect.Effect<undefined, NotFound>

  /**
   * Creates the owner of a deployment that has no user yet, as a member of the default organization. Needs no session. Of
   * concurrent calls, one succeeds. Fails with `Conflict` if a user exists, and with `Forbidden` for a caller of another machine without the
   * set-up token, where one is needed. identity.md §5.
   */
  readonly createFirst: (
    user: FirstUser,
    caller: SetupCaller
  ) => Effect.Effect<{ readonly user_id: Uuid; readonly organization_id: Uuid }, Invalid | Forbidden | Conflict, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const directory = yield* UserDirectoryRepository
  const organizations = yield* OrganizationRepository
  const hasher = yield* PasswordHasher
  const sshKeys = yield* GitSshKeyPairs
  const ids = yield* Ids
  const setupTokens = yield* SetupTokens
  const clock = yield* Effect.clock

  const find = (reference: string): Effect.Effect<Option.Option<UserWithOrganizations>, never, CurrentActor> => {
    if (reference === meAlias) {
      return withActor((actor) =>
        atMillis((now) => {
          const own = OwnUser.take(actor, now)
          return own === undefined ? users.byId(actor.userId) : Effect.succeedSome(own)
        })
      )
    }
    const id = parse(reference)
    if (id !== undefined) return users.byId(id)
    return isName(reference) ? users.byUsername(reference) : Effect.succeedNone
  }

  const exists = new Conflict({ message: "The first user has been created already." })

  return {
    get: Traced.fn("Users.get")(function* (reference: string) {
      const user = yield* find(reference)
      if (Option.isNone(user)) return yield* new NotFound({ resource: "user" })
      yield* Access.readable(AccessObjects.user(user.value))
      return yield* withReadableMemberships(user.value)
    }),

    getNow: (reference: string, actor: Actor): UserWithOrganizations | undefined => {
      const user = reference === meAlias ? OwnUser.take(actor, clock.unsafeCurrentTimeMillis()) : undefined
      return user !== undefined && permits(actor.subject, "read", AccessObjects.user(user)) && readsMemberships(actor, user)
        ? user
        : undefined
    },

    holder: Traced.fn("Users.holder")(function* (reference: string) {
      const user = yield* find(reference)
      if (Option.isNone(user)) return yield* new NotFound({ resource: "user" })
      yield* Access.readable(AccessObjects.user(user.value))
      return user.value
    }),

    list: Traced.fn("Users.list")(function* (search: string, page: Page) {
      const filter = yield* parseUserSearch(search)
      const readable = yield* Access.predicate("read", "user")
      const found = yield* directory.page({ ...page, filter, readable })
      return { count: found.count, users: yield* Effect.forEach(found.users, withReadableMemberships) }
    }),

    requireFirst: Traced.fn("Users.requireFirst")(function* () {
      if (!(yield* users.hasAny)) return yield* new NotFound({ resource: "user", message: "The first user has not been created." })
    }),

    createFirst: Traced.fn("Users.createFirst")(function* ({ email, name, password, username }: FirstUser, caller: SetupCaller) {
      const missing = Redacted.value(password) === "" ? [{ field: "password", detail: "is required" }] : []
      yield* refuseViolations([...profileViolations({ email, username, name }), ...missing])
      if (yield* users.hasAny) return yield* exists
      yield* setupTokens.authorize(caller)
      const weakness = violation(Redacted.value(password))
      if (weakness !== undefined) return yield* Invalid.field("password", weakness, "The password is not strong enough.")

      const hashedPassword = yield* hasher.hash(password)
      const storeSshKey = yield* sshKeys.prepare
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id: yield* ids.next,
          email,
          username,
          name,
          status: "active",
          login_type: "password",
          // Its creator is a person, who would otherwise become dormant before the first login
          last_seen_at: now,
          rbac_roles: [ownerRole]
        },
        now
      )
      return yield* transaction(
        Effect.gen(function* () {
          const organization = yield* Effect.flatMap(organizations.default, Effect.orDie)
          if (!(yield* users.insertFirst(user, hashedPassword))) return yield* exists
          yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: now })
          yield* storeSshKey(user.id, now)
          return { user_id: user.id, organization_id: organization.id }
        })
      ).pipe(Effect.catchTag("Duplicate", () => new Conflict({ message: "The username or e-mail address is taken." })))
    })
  }
})

/** The people and accounts of the deployment. */
export class Users extends Context.Tag("@atelier/core/Users")<Users, UsersService>() {
  static readonly layer = standingOn(service(Users, make), together(GitSshKeyPairs.layer, SetupTokens.layer))
}
