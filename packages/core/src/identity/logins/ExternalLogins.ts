import { Cause, Context, Effect, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Conflict, type Duplicate, Forbidden, Invalid, NotFound, type Unauthenticated } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ApiKeyRepository } from "../sessions/ApiKeyRepository.js"
import { isSameAddress } from "../users/EmailAddress.js"
import { ExternalSignups, type SshKeyWriter } from "./ExternalSignups.js"
import { LinkTokens } from "./LinkTokens.js"
import { type ConversionReturn, LoginConversions } from "./LoginConversions.js"
import {
  type AuthorizationRequest,
  type AuthorizationResponse,
  type LoginProvider,
  LoginProviders,
  ProviderFailure,
  providerOf,
  type VerifiedIdentity,
  type DeviceAuthorization,
  type AuthorizationPending
} from "./LoginProvider.js"
import { avatarFrom, fullNameFrom } from "./ProviderProfile.js"
import { LoginSync } from "../sync/LoginSync.js"
import { openSession } from "../sessions/SessionKey.js"
import { emailViolation, type User, type UserId } from "../users/User.js"
import { UserDormancy } from "../users/UserDormancy.js"
import { areTooDeep, type ExternalLoginType, noClaims, type UserLink, type LinkClaims } from "./UserLink.js"
import { UserLinkRepository } from "./UserLinkRepository.js"
import { UserRepository } from "../users/UserRepository.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** How often a login runs again that met another one's new row. */
const raceRetries = 10

/** Characters of an id at a provider: a `sub` has at most 255 (OpenID Connect Core §2), and an issuer stands before it. */
const maximumLinkedId = 1024

/** A session begins, or an account has been converted, whose user then logs in through the provider. */
export type LoginOutcome = { readonly _tag: "Session"; readonly token: Redacted.Redacted<string> } | { readonly _tag: "Converted" }

/** The part of a provider that decides who is admitted. */
type Voucher = Pick<LoginProvider, "type" | "allow_signups" | "signups_disabled_text" | "email_fallback">

/** Opens the session of an admitted user. */
type SessionOpener<A> = (userId: UserId) => Effect.Effect<A, Duplicate, CurrentActor | Cryptography>

/** The context of a login: everything except the identity. */
interface LoginAttempt {
  readonly conversion: ConversionReturn | undefined
  readonly info: CallInfo
  /** Absent where there was a user a moment ago. */
  readonly storeSshKey: SshKeyWriter | undefined
}

const notConfigured = (type: ExternalLoginType): Invalid =>
  new Invalid({ message: `${type === "oidc" ? "OpenID Connect" : "GitHub"} login is not configured.` })

const otherLogin = ({ login_type }: User, type: ExternalLoginType): Forbidden =>
  new Forbidden({
    message: `This account does not log in with ${type} but with ${login_type || "none"}.`,
    ...(login_type === "password"
      ? { detail: "Sign in with your password, and change how you log in in the settings of your account." }
      : {})
  })

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

  /** Finds the user by the provider's id, or else by the address. identity.md §7.4 no. 1, 2. */
  const find = (type: ExternalLoginType, { email, linked_id }: VerifiedIdentity) =>
    Effect.gen(function* () {
      const link = yield* links.byLinkedId(type, linked_id)
      const linked = Option.isSome(link) ? yield* users.byId(link.value.user_id) : Option.none()
      if (Option.isSome(linked) && !linked.value.deleted) return Option.some<User>(linked.value)
      const found = yield* users.byEmail(email)
      // A store may treat different letters as equal regardless of case. A user with such an address is not this user.
      if (Option.isSome(found) && !isSameAddress(found.value.email, email)) {
        return yield* new Conflict({ message: "Another account has an address that is too similar to yours." })
      }
      return found
    })

  /** Stores who the user is at the provider and what the provider gave. A link keeps the id it has. identity.md §7.4 no. 6. */
  const link = (user: User, type: ExternalLoginType, identity: VerifiedIdentity, existing: Option.Option<UserLink>) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const fresh: UserLink = {
        id: yield* ids.next,
        user_id: user.id,
        login_type: type,
        linked_id: identity.linked_id,
        oauth_expiry: identity.tokens.expires_at,
        created_at: now,
        updated_at: now
      }
      const stored = Option.match(existing, {
        onNone: () => fresh,
        onSome: ({ created_at, id, linked_id }): UserLink => ({ ...fresh, id, created_at, linked_id: linked_id || identity.linked_id })
      })
      const sealed = yield* tokens.seal(stored, identity.tokens)
      yield* (Option.isNone(existing) ? links.insert : links.update)(stored, sealed, identity.claims)
    })

  /** Shows the user as the provider does, but for the username. identity.md §7.4 no. 8. */
  const mirror = (user: User, { avatar_url, email, github_com_user_id, name }: VerifiedIdentity) =>
    Effect.gen(function* () {
      if (email.toLowerCase() !== user.email.toLowerCase() && Option.isSome(yield* users.byEmail(email))) {
        return yield* new ProviderFailure({
          message: "The provider's address of this user belongs to another account.",
          detail: `There is another account with the address ${email}.`
        })
      }
      yield* links.mirror(
        { id: user.id, email, name: fullNameFrom(name), avatar_url: avatarFrom(avatar_url), updated_at: yield* Timestamp.now },
        github_com_user_id
      )
    })

  /** The user of the login, locked against other writers, and whether it is new. */
  const userOf = (provider: Voucher, identity: VerifiedIdentity, { conversion, storeSshKey }: LoginAttempt) =>
    Effect.gen(function* () {
      const found = yield* find(provider.type, identity)
      const [locked] = Option.isSome(found) ? yield* accounts.lock([found.value.id]) : []
      if (locked !== undefined) return { user: locked, isNew: false }
      if (conversion !== undefined) {
        return yield* new Invalid({
          message: "No account is linked to this account of the provider. Sign in there with the e-mail address of your account."
        })
      }
      if (storeSshKey === undefined) return yield* new Conflict({ message: "The account has just been deleted." })
      return { user: yield* signups.register(provider, identity, storeSshKey), isNew: true }
    })

  /** Fails unless the user may log in, or be converted, with this identity. identity.md §7.4 no. 4, 5. */
  const requireAdmitted = (
    user: User,
    { email_fallback, type }: Voucher,
    { linked_id }: VerifiedIdentity,
    { conversion, existing }: Pick<LoginAttempt, "conversion"> & { readonly existing: Option.Option<UserLink> }
  ) =>
    Effect.gen(function* () {
      const isOther = Option.isSome(existing) && existing.value.linked_id !== "" && existing.value.linked_id !== linked_id
      if (isOther && !email_fallback) {
        return yield* new Forbidden({ message: "This account is linked to another one at the provider." })
      }
      if (conversion !== undefined) yield* conversions.requirePermitted(user, type, conversion)
      else if (user.login_type !== type) return yield* otherLogin(user, type)
      if (user.status === "suspended") {
        return yield* new Forbidden({ message: "Your account is suspended. Contact an admin to reactivate it." })
      }
    })

  /** Everything that a login reads, decides and writes, as one. identity.md §7.4. */
  const admit = <A>(provider: Voucher, identity: VerifiedIdentity, attempt: LoginAttempt, open: SessionOpener<A>) =>
    Effect.gen(function* () {
      const { type } = provider
      const { conversion, info } = attempt
      const { isNew, user } = yield* userOf(provider, identity, attempt)
      const existing = yield* links.ofUser(user.id, type)
      yield* requireAdmitted(user, provider, identity, { conversion, existing })
      return yield* Effect.gen(function* () {
        yield* dormancy.see(user)
        yield* link(user, type, identity, existing)
        if (type === "oidc") yield* sync.apply(user, identity.claims.merged_claims)
        yield* mirror(user, identity)
        if (conversion !== undefined) {
          yield* conversions.complete(user, type, conversion)
          return Option.none<A>()
        }
        const { success } = yield* Audit.AuditStatus
        yield* Audit.record({ ...loginOf(user, isNew ? "register" : "login"), status_code: success, diff: {} })
        return Option.some(yield* open(user.id))
      }).pipe(Access.actingAs(actorOf(user, info)))
    })

  /** Logs in a user with a session that `open` makes; returns nothing for an account that was converted. */
  const letIn = <A>(
    provider: Voucher,
    identity: VerifiedIdentity,
    { conversion, info }: Pick<LoginAttempt, "conversion" | "info">,
    open: SessionOpener<A>
  ) =>
    Effect.gen(function* () {
      const { type } = provider
      const { email, linked_id } = identity
      // No store holds these characters: two ids could become one
      if (linked_id === "" || linked_id.length > maximumLinkedId || /[\0\p{Cs}]/u.test(linked_id)) {
        return yield* new Invalid({ message: "The provider did not identify the user." })
      }
      if (emailViolation(email) !== undefined) return yield* new Invalid({ message: "The provider sent no usable e-mail address." })
      if (areTooDeep(identity.claims)) return yield* new Invalid({ message: "The provider's claims are nested too deeply." })

      const known = yield* find(type, identity)
      return yield* Effect.gen(function* () {
        if (type === "oidc") yield* sync.requireAllowed(identity.claims.merged_claims)
        const storeSshKey = Option.isNone(known) && conversion === undefined ? yield* signups.prepare(provider) : undefined
        return yield* transaction(admit(provider, identity, { conversion, info, storeSshKey }, open)).pipe(
          // Another login with the same identity or the same name won the race: its rows are stored now
          Effect.retry({ times: raceRetries, while: ({ _tag }) => _tag === "Duplicate" }),
          Effect.catchTag(
            "Duplicate",
            () => new Conflict({ message: "Another login with the same name or address is under way. Try again." })
          )
        )
      }).pipe(
        Effect.tapErrorCause((cause) =>
          Option.isNone(known)
            ? Effect.void
            : Audit.recordFailure(loginOf(known.value, "login"), Cause.failureOption(cause)).pipe(
                Access.actingAs(actorOf(known.value, info))
              )
        )
      )
    })

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
      const { id, login_type } = yield* people.get(reference)
      yield* Access.authorize("read", AccessObjects.bare("debug_info"))
      if (login_type !== "oidc") return yield* new Invalid({ message: "The user does not log in with OpenID Connect." })
      return Option.getOrElse(yield* links.claimsOf(id, "oidc"), () => noClaims)
    })
  }
})

const loginOf = ({ id }: Pick<User, "id">, action: "login" | "register"): Audit.Subject => ({ action, type: "api_key", id, target: "" })

const actorOf = ({ id, username }: Pick<User, "id" | "username">, info: CallInfo): Actor => ({
  ...SystemActor.systemRestricted,
  ...info,
  username,
  userId: id
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
