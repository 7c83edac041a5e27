import { Context, Effect, Either, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import type { Conflict, NotFound, Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { parse } from "../../platform/texts/Uuid.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import { IdpSyncInForce } from "../sync/IdpSyncInForce.js"
import { parseScimFilter } from "./ScimFilter.js"
import { activeAfter, activeFrom, emailFrom, type ScimAttributes, ScimInvalid, type ScimOperation } from "./ScimUser.js"
import { ScimUserRepository } from "./ScimUserRepository.js"
import { emailViolation, type User, type UserWithOrganizations } from "../users/User.js"
import { UserRepository } from "../users/UserRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { missing, nameOf, scimChanges } from "./ScimChanges.js"

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

  const { change, revive, insert } = scimChanges({ automatic, accounts, users, ids, sshKeys, organizationSync, organizations })

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
