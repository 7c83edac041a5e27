import { Context, Effect, Either, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "../users/UserAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Conflict, NotFound, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { random as randomName } from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { parse } from "../../platform/texts/Uuid.js"
import { accountWrite, lockedAccount } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import { IdpSyncInForce } from "../sync/IdpSyncInForce.js"
import { usernameFrom } from "../logins/ProviderProfile.js"
import { parseScimFilter } from "./ScimFilter.js"
import { activeAfter, activeFrom, emailFrom, fullNameOf, type ScimAttributes, ScimInvalid, type ScimOperation } from "./ScimUser.js"
import { ScimUserRepository } from "./ScimUserRepository.js"
import { emailViolation, ownerRole, newUser, type User, type UserWithOrganizations } from "../users/User.js"
import { UserRepository } from "../users/UserRepository.js"
import { statusTransitions } from "../users/UserStatus.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** Which part of the users is wanted. */
export interface ScimListing {
  /** The first one, counted from 1. */
  readonly startIndex: number
  readonly count: number
  /** Empty matches every user. */
  readonly filter: string
}

/** Users of one page. */
export const maximumScimCount = 1000

/** Users that a page may begin behind. */
const maximumOffset = 2_147_483_647

/** The username that a user sent under this name gets; undefined if neither it nor the address yields one. */
const nameOf = (userName: string, email: string): string | undefined => usernameFrom(userName, email) ?? usernameFrom("", email)

const missing = new NotFound({ resource: "user", message: "There is no such user." })
const taken = new Conflict({ message: "A user with this userName or e-mail address exists already." })

/** The methods of {@link ScimUsers}. */
export interface ScimUsersService {
  /**
   * A page of the users by username, and how many there are on all pages. Fails with `ScimInvalid` for a filter that is not one
   * comparison of a name or an address.
   */
  readonly list: (
    listing: ScimListing
  ) => Effect.Effect<
    { readonly totalResults: number; readonly startIndex: number; readonly users: ReadonlyArray<User> },
    ScimInvalid,
    CurrentActor
  >

  /** A user that is neither deleted nor the service's own. Fails with `NotFound`, also for what is not an id. */
  readonly get: (id: string) => Effect.Effect<UserWithOrganizations, NotFound, CurrentActor>

  /**
   * Creates a user who will log in through the provider, or reinstates the suspended user with this address. Fails with `ScimInvalid`
   * without a name or a usable address, and with `Conflict` for another user's address or name. Of concurrent calls, one creates the
   * user. authorization.md §13.
   */
  readonly create: (attributes: ScimAttributes) => Effect.Effect<User, Forbidden | Conflict | ScimInvalid, CurrentActor | Auditing>

  /**
   * Reinstates or suspends a user; no other attribute is replaced. Fails with `ScimInvalid` if `userName` differs from the user's, if
   * `active` is missing, or if the change would suspend an owner.
   */
  readonly replace: (
    id: string,
    attributes: ScimAttributes
  ) => Effect.Effect<User, Forbidden | NotFound | ScimInvalid, CurrentActor | Auditing>

  /** Applies the steps of a change to `active`. Fails with `ScimInvalid` for an empty step. */
  readonly patch: (
    id: string,
    operations: ReadonlyArray<ScimOperation>
  ) => Effect.Effect<User, Forbidden | NotFound | ScimInvalid, CurrentActor | Auditing>

  /** Suspends a user, whose data stay; a new user with the same address reinstates it. Fails with `ScimInvalid` for an owner. */
  readonly delete: (id: string) => Effect.Effect<void, Forbidden | NotFound | ScimInvalid, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const accounts = yield* AccountRepository
  const directory = yield* ScimUserRepository
  const organizations = yield* OrganizationRepository
  const { organizations: organizationSync } = yield* IdpSyncInForce
  const sshKeys = yield* GitSshKeyPairs
  const ids = yield* Ids
  const options = yield* DeploymentOptions

  /** Additional fields of audit entries about a provider's changes. notifications-audit-insights.md §B1. */
  const automatic = { additional_fields: { automatic_actor: options.brand.toLowerCase(), automatic_subsystem: "scim" } }

  const get = Traced.fn("ScimUsers.get")(function* (id: string) {
    const parsed = parse(id)
    const user = parsed === undefined ? Option.none() : yield* users.byId(parsed)
    if (Option.isNone(user) || user.value.deleted || user.value.is_system) return yield* missing
    yield* Access.readable(AccessObjects.user(user.value), missing)
    return user.value
  })

  /** Activates or suspends a user. `wanted` decides from the current state; undefined changes nothing. */
  const change = <E>(user: Pick<User, "id" | "username">, wanted: (user: User) => Either.Either<boolean | undefined, E>) =>
    Audit.audited(
      { ...accountWrite(user), ...automatic },
      Effect.gen(function* () {
        const before = yield* Effect.mapError(lockedAccount(accounts, user.id), () => missing)
        yield* Access.authorizeWrite("update", AccessObjects.user(before), missing)
        const active = yield* wanted(before)
        const status = active === undefined ? before.status : statusTransitions[before.status][active ? "reinstate" : "suspend"]
        if (status === before.status) return { value: before, before, after: before }
        if (status === "suspended" && before.id === (yield* CurrentActor).userId) {
          return yield* new ScimInvalid("mutability", "You cannot suspend yourself.")
        }
        if (status === "suspended" && before.rbac_roles.includes(ownerRole)) {
          return yield* new ScimInvalid("mutability", "An owner cannot be suspended: the role has to be taken away first.")
        }
        const updated_at = yield* Timestamp.now
        yield* users.updateStatus(before.id, before.status, status, updated_at)
        const after: User = { ...before, status, updated_at }
        return { value: after, before, after }
      })
    )

  /** Reinstates a suspended user. Fails with `Conflict` for a user with another status. */
  const revive = (user: Pick<User, "id" | "username">, active: boolean) =>
    change(user, (before) => (before.status === "suspended" && !before.is_system ? Either.right(active) : Either.left(taken))).pipe(
      // Deleted a moment ago
      Effect.catchTag("NotFound", () => taken)
    )

  const insert = (attributes: ScimAttributes, email: string, active: boolean) =>
    Effect.gen(function* () {
      const username = nameOf(attributes.userName, email) ?? (yield* randomName("-"))
      const id = yield* ids.next
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id,
          email,
          username,
          name: fullNameOf(attributes),
          status: active ? "dormant" : "suspended",
          login_type: "oidc"
        },
        now
      )
      const storeSshKey = yield* sshKeys.prepare
      return yield* Audit.audited(
        { action: "create", resource: userAudit, id, target: username, ...automatic },
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.user(user))
          if (Option.isSome(yield* users.byUsername(username))) return yield* taken
          yield* users.insert(user, null)
          if ((yield* organizationSync).organization_assign_default) {
            const { id: organization_id } = yield* Effect.flatMap(organizations.default, Effect.orDie)
            yield* Access.authorize("create", AccessObjects.organizationMember({ user_id: id, organization_id }))
            yield* organizations.addMember({ organization_id, user_id: id, roles: [], created_at: now })
          }
          yield* storeSshKey(id, now)
          return { value: user, after: user }
        }).pipe(Effect.catchTag("Duplicate", () => taken))
      )
    })

  return {
    list: Traced.fn("ScimUsers.list")(function* (listing: ScimListing) {
      const filter = listing.filter.trim() === "" ? undefined : yield* parseScimFilter(listing.filter)
      const startIndex = Math.max(1, listing.startIndex)
      const limit = Math.min(Math.max(0, listing.count), maximumScimCount)
      const query = { filter, readable: yield* Access.predicate("read", "user") }
      const totalResults = yield* directory.count(query)
      const offset = Math.min(startIndex - 1, maximumOffset)
      const page = limit === 0 || offset >= totalResults ? [] : yield* directory.page({ ...query, limit, offset })
      return { totalResults, startIndex, users: page }
    }),

    get,

    create: Traced.fn("ScimUsers.create")(function* (attributes: ScimAttributes) {
      if (attributes.userName === "") return yield* new ScimInvalid("invalidValue", "userName is required.")
      const email = emailFrom(attributes.emails)
      const violation = emailViolation(email)
      if (violation !== undefined) return yield* new ScimInvalid("invalidValue", `The user's e-mail address ${violation}.`)
      const active = attributes.active === undefined ? true : yield* activeFrom(attributes.active)
      const known = yield* users.byEmail(email)
      return yield* Option.isSome(known) ? revive(known.value, active) : insert(attributes, email, active)
    }),

    replace: Traced.fn("ScimUsers.replace")(function* (id: string, attributes: ScimAttributes) {
      const user = yield* get(id)
      return yield* change(user, (before) => {
        const { userName } = attributes
        const name = nameOf(userName, before.email) ?? userName
        return userName !== "" && name.toLowerCase() !== before.username.toLowerCase()
          ? Either.left(new ScimInvalid("mutability", "userName cannot be changed."))
          : attributes.active === undefined
            ? Either.left(new ScimInvalid("invalidValue", "active is required."))
            : activeFrom(attributes.active)
      })
    }),

    patch: Traced.fn("ScimUsers.patch")(function* (id: string, operations: ReadonlyArray<ScimOperation>) {
      const active = yield* activeAfter(operations)
      const user = yield* get(id)
      return yield* change(user, () => Either.right(active))
    }),

    delete: Traced.fn("ScimUsers.delete")(function* (id: string) {
      const user = yield* get(id)
      yield* change(user, () => Either.right(false))
    })
  }
})

/** The users as an identity provider manages them. */
export class ScimUsers extends Context.Tag("@atelier/core/ScimUsers")<ScimUsers, ScimUsersService>() {
  static readonly layer = standingOn(service(ScimUsers, make), IdpSyncInForce.layer, GitSshKeyPairs.layer)
}
