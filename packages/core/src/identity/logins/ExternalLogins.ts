import { Cause, Context, Effect, Layer, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CallInfo, CurrentActor } from "../../access/Actor.js"
import { SystemActor } from "../../access/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { diff } from "../../audit/Tracked.js"
import { Deployment } from "../../deployment/Deployment.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Cryptography, randomAlphanumeric } from "../../platform/Cryptography.js"
import { Encryption } from "../../platform/Encryption.js"
import { Conflict, Duplicate, Forbidden, Invalid, NotFound } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { random as randomName } from "../../platform/Name.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { transaction } from "../../platform/Transactor.js"
import { accountWrite } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ApiKeyRepository } from "../sessions/ApiKeyRepository.js"
import { isSameAddress } from "../users/EmailAddress.js"
import { GitSshKeys } from "../secrets/GitSshKeys.js"
import { LinkTokens } from "./LinkTokens.js"
import { openConversion } from "./LoginConversion.js"
import {
  type AuthorizationRequest,
  type AuthorizationResponse,
  type LoginProvider,
  LoginProviders,
  ProviderFailure,
  providerOf,
  type VerifiedIdentity
} from "./LoginProvider.js"
import { avatarFrom, fullNameFrom, suffixed, usernameFrom } from "./ProviderProfile.js"
import { LoginSync } from "../sync/LoginSync.js"
import { openSession } from "../sessions/SessionKey.js"
import { emailFlaw, isUsername, ownerRole, newUser, type User } from "../users/User.js"
import { automaticStatusChange } from "../users/UserDormancy.js"
import { areTooDeep, type ExternalLoginType, type UserLink } from "./UserLink.js"
import { UserLinkRepository } from "./UserLinkRepository.js"
import { UserRepository } from "../users/UserRepository.js"

/** Names that are tried for a new user. */
const nameAttempts = 10

/** How often a log-in runs again that met another one's new row. */
const raceRetries = 10

/** Letters and digits behind a name that is taken. */
const suffixLength = 6

/** Characters of an id at a provider: a `sub` has at most 255 (OpenID Connect Core §2), and an issuer stands before it. */
const maximumLinkedId = 1024

/** Somebody who comes back to have an account log in this way from now on. */
export interface ConversionReturn {
  /** What the browser kept. */
  readonly token: string | undefined
  readonly state: string
  /** The session that the browser has. */
  readonly apiKeyId: string | undefined
}

/** A session begins, or an account has been converted, whose user then logs in through the provider. */
export type LoginOutcome = { readonly _tag: "Session"; readonly token: Redacted.Redacted<string> } | { readonly _tag: "Converted" }

const notConfigured = (type: ExternalLoginType): Invalid =>
  new Invalid({ message: `${type === "oidc" ? "OpenID Connect" : "GitHub"} log-in is not configured.` })

const otherLogin = ({ login_type }: User, type: ExternalLoginType): Forbidden =>
  new Forbidden({
    message: `This account does not log in with ${type} but with ${login_type || "none"}.`,
    ...(login_type === "password"
      ? { detail: "Sign in with your password, and change how you log in in the settings of your account." }
      : {})
  })

const signupsDisabled = ({ signups_disabled_text }: LoginProvider): Forbidden =>
  new Forbidden({
    message: "Signups are disabled.",
    detail: signups_disabled_text || "There is no account for you, and none is made. Ask an administrator for one."
  })

const make = Effect.gen(function* () {
  const providers = yield* LoginProviders
  const links = yield* UserLinkRepository
  const tokens = yield* LinkTokens
  const users = yield* UserRepository
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const organizations = yield* OrganizationRepository
  const sshKeys = yield* GitSshKeys
  const sync = yield* LoginSync
  const ids = yield* Ids
  const deployment = yield* Deployment
  const options = yield* DeploymentOptions
  const services = yield* Effect.context<Cryptography | Encryption>()

  const configured = (type: ExternalLoginType): Effect.Effect<LoginProvider, Invalid> => {
    const provider = providerOf(providers, type)
    return provider === undefined ? Effect.fail(notConfigured(type)) : Effect.succeed(provider)
  }

  /** Who that is: by the id at the provider, or else by the address. §7.4 no. 1, 2. */
  const find = (type: ExternalLoginType, { email, linked_id }: VerifiedIdentity) =>
    Effect.gen(function* () {
      const link = yield* links.byLinkedId(type, linked_id)
      const linked = Option.isSome(link) ? yield* users.byId(link.value.user_id) : Option.none()
      if (Option.isSome(linked) && !linked.value.deleted) return Option.some<User>(linked.value)
      const found = yield* users.byEmail(email)
      // A store may take other letters for the same in another case, and whoever has such an address is somebody else
      if (Option.isSome(found) && !isSameAddress(found.value.email, email)) {
        return yield* new Conflict({ message: "Another account has an address that is too much like yours." })
      }
      return found
    })

  /** A name that nobody has, from what the provider proposes. */
  const freeUsername = ({ email, username }: VerifiedIdentity) =>
    Effect.gen(function* () {
      const wanted = usernameFrom(username, email) ?? (yield* randomName("-"))
      let name = wanted
      for (let attempt = 0; attempt <= nameAttempts; attempt++) {
        if (isUsername(name) && Option.isNone(yield* users.byUsername(name))) return name
        name = suffixed(wanted, yield* randomAlphanumeric(suffixLength))
      }
      return yield* new Conflict({ message: `No free username could be made of ${wanted}.` })
    })

  /** A new user, the owner of a deployment without one. §7.4 no. 3. */
  const register = (provider: LoginProvider, identity: VerifiedIdentity, storeSshKey: SshKeyWriter | undefined) =>
    Effect.gen(function* () {
      if (storeSshKey === undefined) return yield* new Conflict({ message: "The account has just been deleted." })
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id: yield* ids.next,
          email: identity.email,
          username: yield* freeUsername(identity),
          name: fullNameFrom(identity.name),
          avatar_url: avatarFrom(identity.avatar_url),
          status: "active",
          login_type: provider.type
        },
        now
      )
      const owner: User = { ...user, rbac_roles: [ownerRole] }
      const isFirst = !(yield* users.hasAny)
      if (isFirst) {
        // Somebody else is the first one now, maybe from another window of the same browser
        if (!(yield* users.insertFirst(owner, null))) return yield* new Duplicate({ constraint: "the first user" })
      } else {
        if (!provider.allow_signups) return yield* signupsDisabled(provider)
        yield* users.insert(user, null)
      }
      const organization = yield* Effect.flatMap(organizations.default, Effect.orDie)
      yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: now })
      yield* storeSshKey(user.id, now)
      return isFirst ? owner : user
    })

  /** Stores who the user is at the provider and what the provider gave. A link keeps the id it has. §7.4 no. 6. */
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

  /** Shows the user as the provider does, but for the username. §7.4 no. 8. */
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

  /** Whether what the browser brought permits the user to be converted. identity.md §6.6. */
  const requireConversion = (user: User, type: ExternalLoginType, { state, token }: ConversionReturn) =>
    Effect.gen(function* () {
      if (token === undefined || token === "") {
        return yield* new Invalid({ message: "The cookie that permits the conversion is missing. Begin again." })
      }
      const opened = yield* openConversion(token)
      const now = yield* Timestamp.now
      if (Option.isNone(opened) || opened.value.expires_at < now || opened.value.not_before > now) {
        return yield* new Invalid({ message: "The conversion has expired, or is none. Begin again." })
      }
      const { from_login_type, issuer, state_string, to_login_type, user_id } = opened.value
      const isPermitted =
        issuer === deployment.id &&
        state_string === state &&
        user_id === user.id &&
        from_login_type === user.login_type &&
        to_login_type === type
      if (!isPermitted) return yield* new Forbidden({ message: "The conversion is of another account, or has been completed." })
    })

  const convert = (user: User, type: ExternalLoginType, apiKeyId: string | undefined) =>
    Effect.gen(function* () {
      const { success } = yield* Audit.AuditStatus
      yield* links.convert(user.id, type, yield* Timestamp.now)
      if (apiKeyId !== undefined) {
        const key = yield* keys.byId(apiKeyId)
        if (Option.isSome(key) && key.value.user_id === user.id) yield* keys.delete(apiKeyId)
      }
      const before = { login_type: user.login_type, hashed_password: "before" }
      yield* Audit.record({
        ...accountWrite(user),
        status_code: success,
        diff: diff("user", before, { login_type: type, hashed_password: null })
      })
    })

  /** Everything that a log-in reads, decides and writes, as one. §7.4. */
  const admit = (
    provider: LoginProvider,
    identity: VerifiedIdentity,
    {
      conversion,
      info,
      storeSshKey
    }: {
      readonly conversion: ConversionReturn | undefined
      readonly info: CallInfo
      /** Absent where there was a user a moment ago. */
      readonly storeSshKey: SshKeyWriter | undefined
    }
  ) =>
    Effect.gen(function* () {
      const { type } = provider
      const found = yield* find(type, identity)
      const [locked] = Option.isSome(found) ? yield* accounts.lock([found.value.id]) : []
      if (locked === undefined && conversion !== undefined) {
        return yield* new Invalid({ message: "The provider's account belongs to none here. Sign in there with the address you have here." })
      }
      const user = locked ?? (yield* register(provider, identity, storeSshKey))
      const existing = yield* links.ofUser(user.id, type)
      const isOther = Option.isSome(existing) && existing.value.linked_id !== "" && existing.value.linked_id !== identity.linked_id
      if (isOther && !provider.email_fallback) {
        return yield* new Forbidden({ message: "This account is linked to another one at the provider." })
      }
      if (conversion !== undefined) yield* requireConversion(user, type, conversion)
      else if (user.login_type !== type) return yield* otherLogin(user, type)
      if (user.status === "suspended") {
        return yield* new Forbidden({ message: "Your account is suspended. Contact an admin to reactivate it." })
      }
      return yield* Effect.gen(function* () {
        if (user.status === "dormant" && (yield* users.wake(user.id, yield* Timestamp.now))) {
          yield* automaticStatusChange(user, "dormant", "active", options)
        }
        yield* link(user, type, identity, existing)
        if (type === "oidc") yield* sync.apply(user, identity.claims.merged_claims)
        yield* mirror(user, identity)
        if (conversion !== undefined) {
          yield* convert(user, type, conversion.apiKeyId)
          return { _tag: "Converted" } satisfies LoginOutcome
        }
        const { success } = yield* Audit.AuditStatus
        yield* Audit.record({ ...loginOf(user, locked === undefined ? "register" : "login"), status_code: success, diff: {} })
        const token = yield* openSession(keys, options, { user_id: user.id, login_type: type })
        return { _tag: "Session", token } satisfies LoginOutcome
      }).pipe(Access.actingAs(actorOf(user, info)))
    }).pipe(Effect.provide(services))

  return {
    /** The provider of that type. Fails with `Invalid` where there is none. */
    provider: configured,

    /** Where a browser goes to prove who its user is. Fails with `Invalid` for a provider that the deployment does not have. */
    start: Effect.fn("ExternalLogins.start")(function* (type: ExternalLoginType, request: AuthorizationRequest) {
      const provider = yield* configured(type)
      return yield* provider.start(request)
    }),

    /** Begins a log-in of somebody whose device cannot be sent to the provider. identity.md §7.2. */
    startDevice: Effect.fn("ExternalLogins.startDevice")(function* (type: ExternalLoginType) {
      const { device } = yield* configured(type)
      if (device === undefined) return yield* new Invalid({ message: "Log-ins of devices are not enabled." })
      return yield* device
    }),

    /**
     * Lets in whom the provider vouches for: the linked user, the one with the address, or a new one. Of any number of first log-ins of
     * one person, one makes the user. Fails with `Forbidden` where the deployment or the account refuses, and then changes nothing.
     * identity.md §7.4.
     */
    complete: Effect.fn("ExternalLogins.complete")(function* (
      type: ExternalLoginType,
      response: AuthorizationResponse,
      info: CallInfo,
      conversion?: ConversionReturn
    ) {
      const provider = yield* configured(type)
      const identity = yield* provider.complete(response)
      const { email, linked_id } = identity
      // No store holds these characters: two ids could become one
      if (linked_id === "" || linked_id.length > maximumLinkedId || /[\0\p{Cs}]/u.test(linked_id)) {
        return yield* new Invalid({ message: "The provider does not say who that is." })
      }
      if (emailFlaw(email) !== undefined) return yield* new Invalid({ message: "The provider sent no usable e-mail address." })
      if (areTooDeep(identity.claims)) return yield* new Invalid({ message: "The provider's claims are nested too deeply." })

      const known = yield* find(type, identity)
      return yield* Effect.gen(function* () {
        if (type === "oidc") yield* sync.requireAllowed(identity.claims.merged_claims)
        if (Option.isNone(known) && !provider.allow_signups && (yield* users.hasAny) && conversion === undefined) {
          return yield* signupsDisabled(provider)
        }
        // A key pair takes too long for a transaction
        const storeSshKey = Option.isNone(known) && conversion === undefined ? yield* sshKeys.prepare : undefined
        return yield* transaction(admit(provider, identity, { conversion, info, storeSshKey })).pipe(
          // Another log-in of the same person, or somebody of the same name, was faster: what it stored is there now
          Effect.retry({ times: raceRetries, while: ({ _tag }) => _tag === "Duplicate" }),
          Effect.catchTag("Duplicate", () => new Conflict({ message: "Others log in with the same name or address. Try again." }))
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
    }),

    /**
     * What the provider said of the actor at the last log-in. Fails with `NotFound` for whoever may not read what is personal, and with
     * `Invalid` for whoever does not log in by OpenID Connect.
     */
    claims: Effect.fn("ExternalLogins.claims")(function* () {
      const { userId } = yield* CurrentActor
      const user = yield* Effect.flatMap(users.byId(userId), (found) =>
        Option.isSome(found) ? Effect.succeed(found.value) : new NotFound()
      )
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      if (user.login_type !== "oidc") return yield* new Invalid({ message: "You do not log in with OpenID Connect." })
      const claims = yield* links.claimsOf(userId, "oidc")
      return Option.match(claims, { onNone: () => ({}), onSome: ({ merged_claims }) => merged_claims })
    })
  }
})

type SshKeyWriter = Effect.Effect.Success<GitSshKeys["Type"]["prepare"]>

const loginOf = ({ id }: Pick<User, "id">, action: "login" | "register"): Audit.Subject => ({ action, type: "api_key", id, target: "" })

const actorOf = ({ id, username }: Pick<User, "id" | "username">, info: CallInfo): Actor => ({
  ...SystemActor.systemRestricted,
  ...info,
  username,
  userId: id
})

/** Who logs in with the account they have elsewhere. */
export class ExternalLogins extends Context.Tag("@atelier/core/ExternalLogins")<ExternalLogins, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(ExternalLogins, make)
}
