/**
 * Users of the application that embeds the service. The host says with each request whose it is; what follows is a login by an external
 * provider, with the same rules. A session of the host is kept as a key, so that a login happens once and not with each request.
 */
import { Context, Effect, Option, Redacted, Schema } from "effect"
import type { Actor, CallInfo } from "../../access/actors/Actor.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Forbidden, Unauthenticated } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import type { Ids } from "../../platform/Ids.js"
import * as Lru from "../../platform/collections/Lru.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import { ApiKeyRepository } from "../sessions/ApiKeyRepository.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { type SessionKey, storeSession } from "../sessions/SessionKey.js"
import { Sessions } from "../sessions/Sessions.js"
import { ExternalLogins } from "./ExternalLogins.js"
import type { VerifiedIdentity } from "./LoginProvider.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import * as Monotonic from "../../platform/time/Monotonic.js"

const text = (maximum: number) => Schema.optionalWith(Schema.String.pipe(Schema.maxLength(maximum)), { default: () => "" })

/** A user of the host. Values that change with each request would make each request a login. */
export const HostIdentity = Schema.Struct({
  /** The user's id at the host: it never changes and is never given to another user. */
  subject: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(255)),
  /** The id of the host's session. Each session is a login of its own; without one, all sessions of a user are one. */
  session: text(1024),
  email: Schema.String.pipe(Schema.maxLength(320)),
  /** Whether the address belongs to the user; a user whose address may be another's is refused. */
  email_verified: Schema.Boolean,
  /** The username that a new user gets if it is free. */
  username: text(1024),
  name: text(1024),
  avatar_url: text(2048),
  /** The source of memberships, groups and roles, like claims of an OpenID Connect provider. */
  claims: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { default: () => ({}) })
})
export interface HostIdentity extends Schema.Schema.Type<typeof HostIdentity> {}

/** Characters of an identity as JSON. */
const maximumIdentity = 64 * 1024

/** Milliseconds for which a refused login is not tried again. */
const restAfterRefusal = 10_000

/** The number of logins whose refusal is remembered. */
const rememberedRefusals = 1000

/** The prefix of ids, in place of the issuer of an OpenID Connect provider. */
const namespace = "host"

/** The host stands for an OpenID Connect provider, which is the only one of its kind. */
const voucher = { type: "oidc", allow_signups: true, signups_disabled_text: "", email_fallback: false } as const

/** JSON whose objects list their members in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : each
  )

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const verifiedIdentity = ({ avatar_url, claims, email, name, subject, username }: HostIdentity): VerifiedIdentity => ({
  linked_id: `${namespace}||${subject}`,
  email,
  username,
  name,
  avatar_url,
  tokens: { access_token: Redacted.make(""), refresh_token: Redacted.make(""), expires_at: null },
  claims: { id_token_claims: {}, user_info_claims: {}, merged_claims: { ...claims, sub: subject } }
})

const ended = new Unauthenticated({ message: "The session has ended. Please sign in again to continue." })

/** The methods of {@link HostLogins}. */
export interface HostLoginsService {
  /**
   * The actor that a user of the host is: the linked user, the one with the address, or a new one. Fails with `Forbidden` where a login of an
   * external provider would, and with `Unauthenticated` for a user that is not active. identity.md §7.4.
   */
  readonly authenticate: (identity: HostIdentity, info: CallInfo) => Effect.Effect<Actor, Unauthenticated | Forbidden>

  /**
   * The same for a stream that goes on, which uses no session. Fails with `Unauthenticated` too where the session has been ended here since:
   * only a request begins another.
   */
  readonly renew: (identity: HostIdentity, info: CallInfo) => Effect.Effect<Actor, Unauthenticated | Forbidden>
}

const make = Effect.gen(function* () {
  const externalLogins = yield* ExternalLogins
  const sessions = yield* Sessions
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const cryptography = yield* Cryptography
  const options = yield* DeploymentOptions
  const services = yield* Effect.context<AuditRepository | Cryptography | EventBus | Ids | Transactor>()
  const oneAtATime = makeKeyedLock<string>()
  const refusals = Lru.make<string, { readonly until: number; readonly error: Forbidden }>(rememberedRefusals)

  const digest = (label: string, value: unknown): Effect.Effect<Uint8Array> =>
    cryptography.sha256(new TextEncoder().encode(`${label}\0${canonical(value)}`))

  /** The key of the host's session, and a hash of all claims of the host about its user. */
  const keyOf = (identity: HostIdentity): Effect.Effect<SessionKey> =>
    Effect.gen(function* () {
      if (canonical(identity).length > maximumIdentity) {
        return yield* Effect.die(new TypeError(`an identity of the host must be at most ${maximumIdentity} characters of JSON`))
      }
      const bytes = yield* digest("host session", [identity.subject, identity.session])
      const id = Array.from(bytes.subarray(0, 10), (byte) => alphabet[byte % alphabet.length]).join("")
      return { id, hashedSecret: yield* digest("host identity", identity) }
    })

  const logIn = (identity: HostIdentity, key: SessionKey, info: CallInfo): Effect.Effect<void, Forbidden> =>
    Effect.gen(function* () {
      if (!identity.email_verified) {
        return yield* new Forbidden({ message: "Your e-mail address is not verified.", detail: "Verify the address, then try again." })
      }
      const now = yield* Monotonic.now
      const refusal = refusals.get(key.id)
      if (refusal !== undefined && refusal.until > now) return yield* refusal.error
      yield* externalLogins
        .admit(voucher, verifiedIdentity(identity), info, (user_id) =>
          Effect.zipRight(keys.delete(key.id), storeSession({ accounts, keys }, options, key, { user_id, login_type: voucher.type }))
        )
        .pipe(
          Effect.mapError(({ detail, message }) => new Forbidden({ message, ...(detail === undefined ? {} : { detail }) })),
          Effect.tapError((error) => Effect.sync(() => refusals.set(key.id, { until: now + restAfterRefusal, error })))
        )
    }).pipe(Effect.provide(services))

  /** The user's actor. A new session of the host, or new claims about its user, cause a login first. */
  const entered = (
    identity: HostIdentity,
    key: SessionKey,
    info: CallInfo,
    isUse: boolean
  ): Effect.Effect<Actor, Unauthenticated | Forbidden> =>
    Effect.gen(function* () {
      const known = yield* sessions.resume(key, info, isUse)
      if (Option.isSome(known)) return known.value
      return yield* oneAtATime(key.id)(
        Effect.gen(function* () {
          // Requests that come together are one login
          const meanwhile = yield* sessions.resume(key, info, isUse)
          if (Option.isSome(meanwhile)) return meanwhile.value
          yield* logIn(identity, key, info)
          return yield* Effect.flatMap(
            sessions.resume(key, info, isUse),
            Option.match({ onNone: () => ended, onSome: (actor: Actor) => Effect.succeed(actor) })
          )
        })
      )
    })

  return {
    authenticate: Traced.fn("HostLogins.authenticate")(function* (identity: HostIdentity, info: CallInfo) {
      return yield* entered(identity, yield* keyOf(identity), info, true)
    }),

    renew: Traced.fn("HostLogins.renew")(function* (identity: HostIdentity, info: CallInfo) {
      const key = yield* keyOf(identity)
      if (Option.isNone(yield* keys.byId(key.id))) return yield* ended
      return yield* entered(identity, key, info, false)
    })
  }
})

/** Logins of users whom the host knows. */
export class HostLogins extends Context.Tag("@atelier/core/HostLogins")<HostLogins, HostLoginsService>() {
  static readonly layer = standingOn(service(HostLogins, make), ExternalLogins.layer, Sessions.layer)
}
