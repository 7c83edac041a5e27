import { Cause, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import type { Actor, CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "../sessions/ApiKeyAudit.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Conflict, type Duplicate, Forbidden, Invalid } from "../../platform/Errors.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import type { ExternalSignups, SshKeyWriter } from "./ExternalSignups.js"
import type { ConversionReturn, LoginConversions } from "./LoginConversions.js"
import type { LoginProvider, VerifiedIdentity } from "./LoginProvider.js"
import type { LoginSync } from "../sync/LoginSync.js"
import { emailViolation, type User, type UserId } from "../users/User.js"
import type { UserDormancy } from "../users/UserDormancy.js"
import { areTooDeep, type ExternalLoginType, type UserLink } from "./UserLink.js"
import type { UserLinkRepository } from "./UserLinkRepository.js"
import type { LoginLinks } from "./LoginLinks.js"

/** How often a login runs again that met another one's new row. */
const raceRetries = 10

/** Characters of an id at a provider: a `sub` has at most 255 (OpenID Connect Core §2), and an issuer stands before it. */
const maximumLinkedId = 1024

/** The part of a provider that decides who is admitted. */
export type Voucher = Pick<LoginProvider, "type" | "allow_signups" | "signups_disabled_text" | "email_fallback">

/** Opens the session of an admitted user. */
export type SessionOpener<A> = (userId: UserId) => Effect.Effect<A, Duplicate, CurrentActor | Cryptography>

/** The context of a login: everything except the identity. */
interface LoginAttempt {
  readonly conversion: ConversionReturn | undefined
  readonly info: CallInfo
  /** Absent where there was a user a moment ago. */
  readonly storeSshKey: SshKeyWriter | undefined
}

const otherLogin = ({ login_type }: User, type: ExternalLoginType): Forbidden =>
  new Forbidden({
    message: `This account does not log in with ${type} but with ${login_type || "none"}.`,
    ...(login_type === "password"
      ? { detail: "Sign in with your password, and change how you log in in the settings of your account." }
      : {})
  })

const loginOf = ({ id }: Pick<User, "id">, action: "login" | "register"): Audit.Subject => ({
  action,
  resource: apiKeyAudit,
  id,
  target: ""
})

const actorOf = ({ id, username }: Pick<User, "id" | "username">, info: CallInfo): Actor => ({
  ...SystemActor.systemRestricted,
  ...info,
  username,
  userId: id
})

interface Needs extends Pick<LoginLinks, "find" | "link" | "mirror"> {
  readonly accounts: AccountRepository["Type"]
  readonly signups: ExternalSignups["Type"]
  readonly conversions: LoginConversions["Type"]
  readonly links: UserLinkRepository["Type"]
  readonly dormancy: UserDormancy["Type"]
  readonly sync: LoginSync["Type"]
}

/** The admission of an identity that a provider vouches for: found or signed up, synchronized, and given a session. */
export const loginAdmission = ({ find, accounts, signups, conversions, links, dormancy, link, sync, mirror }: Needs) => {
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
        yield* Audit.record({ ...loginOf(user, isNew ? "register" : "login"), status_code: success })
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

  return { letIn }
}
