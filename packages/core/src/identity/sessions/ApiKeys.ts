import { Context, type Duration, Effect, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { AllowListInput } from "../../access/scopes/AllowList.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { AccountRepository } from "../users/AccountRepository.js"
import type { ApiKey } from "./ApiKey.js"
import { ApiKeyRepository, type TokenOfUser } from "./ApiKeyRepository.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Ids } from "../../platform/Ids.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Auditing } from "../../audit/Audit.js"
import { readable, keyHolders } from "./KeyHolders.js"
import { keyIssue } from "./KeyIssue.js"
import { keyEnding } from "./KeyEnding.js"

/** The request for a token. */
export interface TokenRequest {
  /** Absent or empty: a random name. */
  readonly token_name?: string | undefined
  /** Nanoseconds; absent or 0: the deployment's default. */
  readonly lifetime?: bigint | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Counts when `scopes` is absent or empty. */
  readonly scope?: string | undefined
  readonly allow_list?: ReadonlyArray<AllowListInput> | undefined
}

/** The methods of {@link ApiKeys}. */
export interface ApiKeysService {
  /**
   * Creates a session key for a logged-in user. Returns the token, which is shown only once. Fails with `Invalid` for a user who has
   * 10,000 keys, and with `Unauthenticated` if the credential in use has ended. identity.md §4.
   */
  readonly create: (
    reference: string
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | Forbidden | NotFound, CurrentActor | Ids | Cryptography>

  /**
   * Creates a key of the actor that opens apps and does nothing else, for a browser at an app's host. It lives for a day after its last use at
   * most, and ends when the user logs out. Fails as `create` does. agents-and-apps.md §19.
   */
  readonly createForApps: () => Effect.Effect<
    Redacted.Redacted<string>,
    Invalid | Unauthenticated | Forbidden | NotFound,
    CurrentActor | Ids | Cryptography
  >

  /**
   * Creates a token. Returns its text, which is shown only once. Fails with `Invalid` for a scope, allow list or lifetime that is not
   * allowed and for a user who has 10,000 keys, `Conflict` for a taken name, `Forbidden` for rights that the
   * credential in use lacks, and `Unauthenticated` if that credential has ended. identity.md §4.
   */
  readonly createToken: (
    reference: string,
    request: TokenRequest
  ) => Effect.Effect<
    Redacted.Redacted<string>,
    Invalid | Unauthenticated | Forbidden | NotFound | Conflict,
    CurrentActor | Ids | Cryptography
  >

  /**
   * The user's tokens, or with `include_all` those of all users, as far as the actor may read them; oldest first. Fails with `NotFound`
   * for a credential that may read neither the user nor the user's keys. identity.md §4.
   */
  readonly tokens: (
    reference: string,
    options: { readonly include_expired: boolean; readonly include_all: boolean }
  ) => Effect.Effect<ReadonlyArray<TokenOfUser>, NotFound, CurrentActor>

  /** The longest life a token of the user may have. identity.md §4. */
  readonly maximumLifetime: (reference: string) => Effect.Effect<Duration.Duration, NotFound, CurrentActor>

  /** The user's key of that name. */
  readonly byName: (reference: string, name: string) => Effect.Effect<ApiKey, NotFound, CurrentActor>

  /** The key with that id, of any user: `reference` only has to name a user that the actor can read. identity.md §4. */
  readonly get: (reference: string, id: string) => Effect.Effect<ApiKey, NotFound, CurrentActor>

  /** Deletes a key of any origin. Requests with it are refused from now on. */
  readonly delete: (reference: string, id: string) => Effect.Effect<void, NotFound, CurrentActor | Auditing>

  /**
   * Expires a key now. Requests with it are told that it has expired, and its name stays taken. Does nothing to a key that has already
   * expired. identity.md §4.
   */
  readonly expire: (reference: string, id: string) => Effect.Effect<void, NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const repository = yield* ApiKeyRepository
  const accounts = yield* AccountRepository
  const { defaultTokenLifetime, maxAdminTokenLifetime, maxTokenLifetime, sessionDuration } = yield* DeploymentOptions

  const { holder, newHolder } = keyHolders({ users })

  return {
    ...keyIssue({ maxAdminTokenLifetime, maxTokenLifetime, defaultTokenLifetime, repository, newHolder, sessionDuration, holder }),

    tokens: Traced.fn("ApiKeys.tokens")(function* (
      reference: string,
      options: { readonly include_expired: boolean; readonly include_all: boolean }
    ) {
      const user = yield* holder(reference)
      const tokens = yield* repository.tokens({
        userId: options.include_all ? undefined : user.id,
        unexpiredAt: options.include_expired ? undefined : yield* Timestamp.now,
        readable: yield* Access.predicate("read", "api_key"),
        usersReadable: yield* Access.predicate("read", "user")
      })
      const readsKeys = tokens.length > 0 || (yield* Access.can("read", AccessObjects.ownedBy("api_key", user.id)))
      if (!readsKeys) yield* Access.readable(AccessObjects.user(user))
      return tokens
    }),

    byName: Traced.fn("ApiKeys.byName")(function* (reference: string, name: string) {
      const user = yield* holder(reference)
      return yield* readable(yield* repository.byName(user.id, name))
    }),

    get: Traced.fn("ApiKeys.get")(function* (reference: string, id: string) {
      yield* holder(reference)
      return yield* readable(yield* repository.byId(id))
    }),

    ...keyEnding({ holder, repository, accounts })
  }
})

/** Keys and tokens of users: created, shown and deleted by their holders and by administrators. */
export class ApiKeys extends Context.Tag("@atelier/core/ApiKeys")<ApiKeys, ApiKeysService>() {
  static readonly layer = standingOn(service(ApiKeys, make), Users.layer)
}
