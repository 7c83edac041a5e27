import { Context, Effect, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { type Conflict, type Forbidden, Invalid, NotFound, type Unauthenticated } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ApiKeyRepository } from "../sessions/ApiKeyRepository.js"
import { ExternalSignups } from "./ExternalSignups.js"
import { LinkTokens } from "./LinkTokens.js"
import { type ConversionReturn, LoginConversions } from "./LoginConversions.js"
import {
  type AuthorizationRequest,
  type AuthorizationResponse,
  type LoginProvider,
  LoginProviders,
  type ProviderFailure,
  providerOf,
  type VerifiedIdentity,
  type DeviceAuthorization,
  type AuthorizationPending
} from "./LoginProvider.js"
import { LoginSync } from "../sync/LoginSync.js"
import { openSession } from "../sessions/SessionKey.js"
import type { UserId } from "../users/User.js"
import { UserDormancy } from "../users/UserDormancy.js"
import { type ExternalLoginType, noClaims, type LinkClaims } from "./UserLink.js"
import { UserLinkRepository } from "./UserLinkRepository.js"
import { UserRepository } from "../users/UserRepository.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { type Voucher, type SessionOpener, loginAdmission } from "./LoginAdmission.js"
import { loginLinks } from "./LoginLinks.js"

/** A session begins, or an account has been converted, whose user then logs in through the provider. */
export type LoginOutcome = { readonly _tag: "Session"; readonly token: Redacted.Redacted<string> } | { readonly _tag: "Converted" }

const notConfigured = (type: ExternalLoginType): Invalid =>
  new Invalid({ message: `${type === "oidc" ? "OpenID Connect" : "GitHub"} login is not configured.` })

/** The methods of {@link ExternalLogins}. */
export interface ExternalLoginsService {
  /** The provider of that type. Fails with `Invalid` if the deployment has none. */
  readonly provider: (type: ExternalLoginType) => Effect.Effect<LoginProvider, Invalid>

  /** Where a browser goes to prove who its user is. Fails with `Invalid` for a provider that the deployment does not have. */
  readonly start: (type: ExternalLoginType, request: AuthorizationRequest) => Effect.Effect<string, Invalid | ProviderFailure>

  /** Begins a login on a device that cannot open the provider's pages. identity.md §7.2. */
  readonly startDevice: (type: ExternalLoginType) => Effect.Effect<DeviceAuthorization, Invalid | ProviderFailure>

  /**
   * Logs in a verified user: the linked user, the one with the address, or a new one. Of concurrent first logins of one person, one
   * creates the user. Fails with `Forbidden`, nothing changed, if the deployment or the account refuses. identity.md §7.4.
   */
  readonly complete: (
    type: ExternalLoginType,
    response: AuthorizationResponse,
    info: CallInfo,
    conversion?: ConversionReturn
  ) => Effect.Effect<
    LoginOutcome,
    Invalid | Unauthenticated | Forbidden | Conflict | ProviderFailure | AuthorizationPending,
    Cryptography | Auditing
  >

  /**
   * As `complete`, for an identity that the host itself vouches for, in a session that `open` stores. Runs `open` in the login's transaction,
   * again where it fails with `Duplicate`.
   */
  readonly admit: (
    voucher: Voucher,
    identity: VerifiedIdentity,
    info: CallInfo,
    open: SessionOpener<void>
  ) => Effect.Effect<void, Invalid | Forbidden | Conflict | ProviderFailure, Cryptography | Auditing>

  /**
   * Returns the claims that the provider sent at the actor's last login. Fails with `NotFound` if the actor may not read its personal
   * data, and with `Invalid` if the actor does not log in by OpenID Connect.
   */
  readonly claims: () => Effect.Effect<{}, Invalid | NotFound, CurrentActor>

  /**
   * Returns all claims that the provider sent at a user's last login, for those who look for mistakes in its settings. Fails with
   * `NotFound` if the actor may not read the user, with `Forbidden` without the permission to read what the service tells of itself, and
   * with `Invalid` if the user does not log in by OpenID Connect. agents-and-apps.md §20.
   */
  readonly claimsOf: (reference: string) => Effect.Effect<LinkClaims, Invalid | Forbidden | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const providers = yield* LoginProviders
  const links = yield* UserLinkRepository
  const tokens = yield* LinkTokens
  const users = yield* UserRepository
  const people = yield* Users
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const signups = yield* ExternalSignups
  const conversions = yield* LoginConversions
  const sync = yield* LoginSync
  const dormancy = yield* UserDormancy
  const ids = yield* Ids
  const options = yield* DeploymentOptions

  const configured = (type: ExternalLoginType): Effect.Effect<LoginProvider, Invalid> => {
    const provider = providerOf(providers, type)
    return provider === undefined ? Effect.fail(notConfigured(type)) : Effect.succeed(provider)
  }

  const { find, link, mirror } = loginLinks({ links, users, ids, tokens })

  const { letIn } = loginAdmission({ find, accounts, signups, conversions, links, dormancy, link, sync, mirror })

  return {
    provider: configured,

    start: Traced.fn("ExternalLogins.start")(function* (type: ExternalLoginType, request: AuthorizationRequest) {
      const provider = yield* configured(type)
      return yield* provider.start(request)
    }),

    startDevice: Traced.fn("ExternalLogins.startDevice")(function* (type: ExternalLoginType) {
      const { device } = yield* configured(type)
      if (device === undefined) return yield* new Invalid({ message: "Device logins are not enabled." })
      return yield* device
    }),

    complete: Traced.fn("ExternalLogins.complete")(function* (
      type: ExternalLoginType,
      response: AuthorizationResponse,
      info: CallInfo,
      conversion?: ConversionReturn
    ) {
      const provider = yield* configured(type)
      const identity = yield* provider.complete(response)
      const open = (user_id: UserId) => openSession({ accounts, keys }, options, { user_id, login_type: type })
      return Option.match(yield* letIn(provider, identity, { conversion, info }, open), {
        onNone: (): LoginOutcome => ({ _tag: "Converted" }),
        onSome: (token): LoginOutcome => ({ _tag: "Session", token })
      })
    }),

    admit: Traced.fn("ExternalLogins.admit")(function* (
      voucher: Voucher,
      identity: VerifiedIdentity,
      info: CallInfo,
      open: SessionOpener<void>
    ) {
      yield* letIn(voucher, identity, { conversion: undefined, info }, open)
    }),

    claims: Traced.fn("ExternalLogins.claims")(function* () {
      const { userId } = yield* CurrentActor
      const user = yield* Effect.flatMap(users.byId(userId), (found) =>
        Option.isSome(found) ? Effect.succeed(found.value) : new NotFound()
      )
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      if (user.login_type !== "oidc") return yield* new Invalid({ message: "You do not log in with OpenID Connect." })
      const claims = yield* links.claimsOf(userId, "oidc")
      return Option.match(claims, { onNone: () => ({}), onSome: ({ merged_claims }) => merged_claims })
    }),

    claimsOf: Traced.fn("ExternalLogins.claimsOf")(function* (reference: string) {
      // All below /debug is refused alike, whether or not there is such a user
      yield* Access.authorize("read", AccessObjects.bare("debug_info"))
      const { id, login_type } = yield* people.get(reference)
      if (login_type !== "oidc") return yield* new Invalid({ message: "The user does not log in with OpenID Connect." })
      return Option.getOrElse(yield* links.claimsOf(id, "oidc"), () => noClaims)
    })
  }
})

/** Logins with an account at a provider. */
export class ExternalLogins extends Context.Tag("@atelier/core/ExternalLogins")<ExternalLogins, ExternalLoginsService>() {
  static readonly layer = standingOn(
    service(ExternalLogins, make),
    LinkTokens.layer,
    ExternalSignups.layer,
    LoginConversions.layer,
    LoginSync.layer,
    UserDormancy.layer,
    Users.layer
  )
}
