import { Clock, Context, Effect, Option, Redacted, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { buildSubject, type Subject } from "../../access/actors/Subject.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { AuditRepository } from "../../audit/AuditRepository.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Forbidden, NotFound, refuseViolations, Unauthenticated, validationsOf, type Invalid } from "../../platform/Errors.js"
import { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import * as Lru from "../../platform/collections/Lru.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { afterwards, transaction, Transactor } from "../../platform/store/Transactor.js"
import { type KeyUse, parseCredential, useOf } from "./ApiKey.js"
import { coversPath } from "./Audience.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ApiKeyRepository } from "./ApiKeyRepository.js"
import { LinkTokens } from "../logins/LinkTokens.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import { openSession, type SessionKey } from "./SessionKey.js"
import { sessionEnd } from "./SessionEnd.js"
import { SessionRepository, type StoredRights, type StoredSession } from "./SessionRepository.js"
import { emailViolation, type User, type UserStatus } from "../users/User.js"
import * as OwnUser from "../users/OwnUser.js"
import { UserDormancy } from "../users/UserDormancy.js"
import { isExternalLoginType } from "../logins/UserLink.js"
import { UserRepository } from "../users/UserRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** Subjects kept between requests: one for each set of rights in use. */
const subjectCapacity = 1024

const applicationConnectScope = "coder:application_connect"

const Audience = Schema.parseJson(Schema.Array(Schema.String))

type WithPassword = Pick<User, "id" | "updated_at"> & { readonly hashed_password: string | null }

/** How often log-ins look whether there are passwords of another scheme. */
const schemeInterval = "1 hour"

/** The methods of {@link Sessions}. */
export interface SessionsService {
  /**
   * The actor a key authenticates: its user, with the user's present roles and groups, narrowed by the key's scopes and allow list.
   * Records the use of the key, at most hourly. Fails for a key that is unknown, wrong or expired, and for a user that is not active.
   * identity.md §2.4, §2.5.
   */
  readonly authenticate: (token: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>

  /**
   * The actor of a key whose holder has proved elsewhere that the key is its own. Does not count as a use of the key. Fails for a key that is
   * unknown or expired, and for a user that is not active.
   */
  readonly holderOf: (id: string, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>

  /**
   * The actor of a session whose user something else has authenticated; nothing where no such session is stored, or it has expired. Counts as
   * a use of its key where `isUse` says so. Fails for a user that is not active.
   */
  readonly resume: (key: SessionKey, info: CallInfo, isUse: boolean) => Effect.Effect<Option.Option<Actor>, Unauthenticated>

  /**
   * Opens a session for a user with this e-mail address and password. Returns the token. Fails with `Unauthenticated`, in the same way
   * and after the same time, for an unknown address, a wrong password and an account without a password. identity.md §6.1.
   */
  readonly logIn: (
    input: { readonly email: string; readonly password: Redacted.Redacted<string> },
    info: CallInfo
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | Forbidden, Cryptography | Auditing>

  /**
   * Ends the session the actor presents, and what applications of its user were given to connect with. Other sessions and tokens stay.
   * identity.md §6.2.
   */
  readonly logOut: () => Effect.Effect<undefined, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const sessions = yield* SessionRepository
  const users = yield* UserRepository
  const dormancy = yield* UserDormancy
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const links = yield* LinkTokens
  const hasher = yield* PasswordHasher
  const options = yield* DeploymentOptions
  const scope = yield* Effect.scope
  const cryptography = yield* Cryptography
  const services = yield* Effect.context<AuditRepository | Ids | Transactor | EventBus>()

  const subjects = Lru.make<string, Subject>(subjectCapacity)
  /** Compiled once for the exact rights: a change of any of them makes another fingerprint. */
  const subjectOf = (rights: StoredRights): Subject => {
    const known = subjects.get(rights.fingerprint)
    if (known !== undefined) return known
    const subject = buildSubject({ ...rights.read(), options })
    subjects.set(rights.fingerprint, subject)
    return subject
  }

  /** The user's status once it is seen. Active users, who send most requests, need no transaction. */
  const see = (user: Pick<User, "id" | "username" | "status">): Effect.Effect<UserStatus> =>
    user.status === "active"
      ? Effect.succeed(user.status)
      : transaction(dormancy.see(user)).pipe(Access.actingAs(SystemActor.systemRestricted), Effect.provide(services))

  const unknownKey = new Unauthenticated({ message: "The session token is invalid." })
  const inactive = (status: UserStatus): Unauthenticated =>
    new Unauthenticated({ message: `Your account is ${status}. Contact an admin to reactivate it.` })

  /** Whether the key is bound to nothing, or to what is called among others. */
  const isMeantFor = ({ audience }: Pick<StoredSession, "audience">, { path }: CallInfo): boolean =>
    audience === null || Schema.decodeSync(Audience)(audience).some((resource) => coversPath(resource, options.accessUrl, path))

  const wrongLogin = new Unauthenticated({ message: "Incorrect e-mail address or password." })

  /** Admits a known user with the right password: opens a session, unless the deployment or the account refuses. */
  const admit = ({ hashed_password, id, updated_at }: WithPassword) =>
    Effect.gen(function* () {
      // Verifying takes long. A password change in between has already ended the user's sessions. A concurrent login that only rehashed the
      // same password left the user's `updated_at` unchanged
      const [user] = yield* accounts.lock([id])
      const current = Option.getOrNull(yield* accounts.hashedPassword(id))
      if (user === undefined || (current !== hashed_password && user.updated_at !== updated_at)) return yield* wrongLogin
      if (options.disablePasswordAuth) return yield* new Forbidden({ message: "Password authentication is disabled." })
      if (user.login_type !== "password") {
        return yield* new Forbidden({ message: `This account does not log in with a password but with ${user.login_type || "none"}.` })
      }
      const status = yield* see(user)
      if (status !== "active") return yield* inactive(status)
      return yield* openSession({ accounts, keys }, options, { user_id: user.id, login_type: "password" })
    })

  /** Whether all passwords are hashed alike. Hashes of another scheme become fewer, and none is added, so that an old answer is a safe one. */
  const isOnlyScheme = yield* Effect.cachedWithTTL(
    hasher.scheme === undefined
      ? Effect.succeed(true)
      : Effect.map(accounts.hasOtherScheme(hasher.scheme), (others) => !others).pipe(Effect.catchAllCause(() => Effect.succeed(false))),
    schemeInterval
  )

  /** Replaces an older kind of hash, now that the password is known. The user is logged in all the same where that fails. */
  const renewHash = ({ hashed_password, id }: WithPassword, password: Redacted.Redacted<string>) =>
    hashed_password === null || hasher.isCurrent(hashed_password)
      ? Effect.void
      : Effect.flatMap(hasher.hash(password), (next) => accounts.rehashPassword(id, hashed_password, next)).pipe(
          Effect.catchAllCause((cause) => Effect.logError("a password's hash could not be replaced", cause))
        )

  /** The session of a key that has not expired. Without a hash something else vouches for the key. */
  const lasting = (id: string, info: CallInfo, hashedSecret?: Uint8Array): Effect.Effect<StoredSession, Unauthenticated> =>
    Effect.gen(function* () {
      const found = yield* sessions.byKeyId(id)
      if (Option.isNone(found)) return yield* unknownKey
      const session = found.value
      switch (sessionEnd({ session, hashedSecret: hashedSecret ?? session.hashed_secret, now: yield* Clock.currentTimeMillis })) {
        case "wrong_secret":
        case "user_deleted":
          return yield* unknownKey
        case "expired":
          return yield* new Unauthenticated({ message: unknownKey.message, detail: `The session token expired at ${session.expires_at}.` })
        case "user_suspended":
          return yield* inactive(session.status)
      }
      if (!isMeantFor(session, info)) {
        return yield* new Unauthenticated({
          message: unknownKey.message,
          detail: "The token's audience is another server, or another part or address of this one."
        })
      }
      if (session.dpop_jkt !== (info.dpopKey ?? null)) {
        return yield* new Unauthenticated({
          message: unknownKey.message,
          detail: "The token is bound to a key, and the call has no proof of it; or it has a proof, and the token is bound to none."
        })
      }
      if (isExternalLoginType(session.login_type)) yield* links.requireCurrent(session.user_id, session.login_type)
      return session
    })

  /** The session of a key that is right and has not expired. */
  const presented = (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<StoredSession, Unauthenticated> =>
    Effect.gen(function* () {
      const credential = parseCredential(Redacted.value(token))
      if (credential === undefined) return yield* unknownKey
      return yield* lasting(credential.id, info, yield* hashSecret(cryptography, credential.secret))
    })

  const holderOf = (info: CallInfo, session: StoredSession): Actor => ({
    ...info,
    subject: subjectOf(session.rights),
    userId: session.user_id,
    username: session.username,
    apiKeyId: session.id,
    isApp: session.login_type === "oauth2_provider_app"
  })

  const actorOf = (token: Redacted.Redacted<string>, info: CallInfo, session: StoredSession, expiresAt: Timestamp.Timestamp): Actor => ({
    ...holderOf(info, session),
    credential: { renew: renew(token, info), expiresAt: Timestamp.toMillis(expiresAt) }
  })

  /** Listening is not a use of the key: a dormant user stays dormant, and the expiry does not move */
  const renew = (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.flatMap(presented(token, info), (session) =>
      session.status === "active" ? Effect.succeed(actorOf(token, info, session, session.expires_at)) : inactive(session.status)
    )

  const holderOfKey = (id: string, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.flatMap(lasting(id, info), (session) =>
      session.status === "active"
        ? Effect.succeed<Actor>({
            ...holderOf(info, session),
            credential: { renew: Effect.suspend(() => holderOfKey(id, info)), expiresAt: Timestamp.toMillis(session.expires_at) }
          })
        : inactive(session.status)
    )

  /** Wakes a dormant user, and records that the key is used, at most hourly: answers what it wrote. Fails for a user that is not active. */
  const use = (session: StoredSession, info: CallInfo): Effect.Effect<KeyUse | undefined, Unauthenticated> =>
    Effect.gen(function* () {
      const status = yield* see({ id: session.user_id, username: session.username, status: session.status })
      if (status !== "active") return yield* inactive(status)
      const now = yield* Clock.currentTimeMillis
      const slides = !options.disableSessionExpiryRefresh
      const written = useOf(session, { now, ip: info.ip ?? "", slides })
      if (written !== undefined)
        yield* Effect.provide(transaction(sessions.recordUse(session, written, Timestamp.fromMillis(now))), services)
      return written
    })

  return {
    authenticate: (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
      Effect.gen(function* () {
        const session = yield* presented(token, info)
        const written = yield* use(session, info)
        const actor = actorOf(token, info, session, written?.expires_at ?? session.expires_at)
        // A use that is written changes the user too, and so does waking up
        if (written === undefined && session.status === "active") OwnUser.keep(actor, session.user, yield* Clock.currentTimeMillis)
        return actor
      }),

    holderOf: holderOfKey,

    resume: (key: SessionKey, info: CallInfo, isUse: boolean): Effect.Effect<Option.Option<Actor>, Unauthenticated> =>
      Effect.gen(function* () {
        const found = yield* sessions.byKeyId(key.id)
        if (Option.isNone(found)) return Option.none()
        const session = found.value
        const end = sessionEnd({ session, hashedSecret: key.hashedSecret, now: yield* Clock.currentTimeMillis })
        if (end === "user_suspended") return yield* inactive(session.status)
        if (end !== undefined) return Option.none()
        if (isUse) yield* use(session, info)
        return Option.some(holderOf(info, session))
      }),

    logIn: Traced.fn("Sessions.logIn")(function* (
      { email, password }: { readonly email: string; readonly password: Redacted.Redacted<string> },
      info: CallInfo
    ) {
      yield* refuseViolations(
        validationsOf({ email: emailViolation(email), password: Redacted.value(password) === "" ? "is required" : undefined })
      )

      const found = yield* users.byEmail(email)
      const hash = Option.match(found, { onNone: () => null, onSome: ({ hashed_password }) => hashed_password })
      const isRight = yield* hasher.verify(password, hash, yield* isOnlyScheme)
      if (Option.isNone(found)) return yield* wrongLogin

      const user = found.value
      const subject: Audit.Subject = { action: "login", type: "api_key", id: user.id, target: "" }
      const asUser = Access.actingAs({ ...SystemActor.systemRestricted, ...info, username: user.username, userId: user.id })
      if (!isRight) {
        // Written after the answer, which would otherwise take longer for addresses that are known
        yield* Audit.recordFailure(subject, Option.some(wrongLogin)).pipe(Effect.uninterruptible, afterwards, Effect.forkIn(scope), asUser)
        return yield* wrongLogin
      }
      return yield* asUser(
        Audit.audited(
          subject,
          Effect.map(admit(user), (value) => ({ value }))
        ).pipe(Effect.tap(() => renewHash(user, password)))
      )
    }),

    logOut: Traced.fn("Sessions.logOut")(function* () {
      const { apiKeyId, userId } = yield* CurrentActor
      if (apiKeyId === undefined) return yield* new NotFound({ resource: "api_key" })
      yield* Audit.audited(
        { action: "logout", type: "api_key", id: userId, target: "" },
        Effect.gen(function* () {
          yield* Access.authorize("delete", AccessObjects.ownedBy("api_key", userId, apiKeyId))
          yield* keys.delete(apiKeyId)
          yield* keys.deleteWithScope(userId, applicationConnectScope)
          return { value: undefined }
        })
      )
    })
  }
})

/** Authentication of callers by their credentials, and the sessions of users who log in. */
export class Sessions extends Context.Tag("@atelier/core/Sessions")<Sessions, SessionsService>() {
  static readonly layer = standingOn(service(Sessions, make), LinkTokens.layer, UserDormancy.layer)
}
