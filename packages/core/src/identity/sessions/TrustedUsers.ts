/** Users for whom the program that embeds the service acts, without a credential: it could read the store itself. */
import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { type Actor, type CallInfo, userActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { allScope } from "../../access/scopes/Scope.js"
import type { Auditing } from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { RightsRepository } from "../../organizations/RightsRepository.js"
import { Unauthenticated } from "../../platform/Errors.js"
import { transaction } from "../../platform/store/Transactor.js"
import * as Uuid from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { UserDormancy } from "../users/UserDormancy.js"
import type { UserWithOrganizations } from "../users/User.js"
import { UserRepository } from "../users/UserRepository.js"
import { inactive } from "./CredentialChecks.js"

/** The methods of {@link TrustedUsers}. */
export interface TrustedUsersService {
  /**
   * The actor that a user is, by username or id, with the user's present roles and groups. Fails for a user that is unknown, deleted, suspended or the
   * service's own.
   */
  readonly actorOf: (user: string, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>
}

const unknownUser = new Unauthenticated({ message: "There is no such user." })

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const rights = yield* RightsRepository
  const dormancy = yield* UserDormancy
  const options = yield* DeploymentOptions
  const services = yield* Effect.context<Auditing>()

  const found = (user: string): Effect.Effect<UserWithOrganizations, Unauthenticated> =>
    Effect.gen(function* () {
      const id = Uuid.parse(user)
      const known = Option.getOrUndefined(yield* id === undefined ? users.byUsername(user) : users.byId(id))
      return known === undefined || known.deleted || known.is_system ? yield* unknownUser : known
    })

  const actorOf = (user: string, info: CallInfo, isUse: boolean): Effect.Effect<Actor, Unauthenticated> =>
    Effect.gen(function* () {
      const { id, status, username } = yield* found(user)
      if (status === "suspended") return yield* inactive(status)
      if (isUse && status === "dormant") {
        const woken = transaction(dormancy.see({ id, username, status })).pipe(Access.actingAs(SystemActor.systemRestricted))
        yield* Effect.provide(woken, services)
      }
      const present = Option.getOrUndefined(yield* rights.of(id))
      if (present === undefined) return yield* inactive("suspended")
      const input = { ...present, userId: id, scopes: [allScope], allowList: unrestrictedAllowList, options }
      // A rename does not take the right away
      return { ...userActor(input, { ...info, username }), credential: { renew: Effect.suspend(() => actorOf(id, info, false)) } }
    })

  return { actorOf: (user: string, info: CallInfo) => actorOf(user, info, true) }
})

/** Users whom the embedding program names. */
export class TrustedUsers extends Context.Tag("@atelier/core/TrustedUsers")<TrustedUsers, TrustedUsersService>() {
  static readonly layer = standingOn(service(TrustedUsers, make), UserDormancy.layer)
}
