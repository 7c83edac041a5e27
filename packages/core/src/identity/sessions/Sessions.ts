import { Clock, Context, Effect, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "./ApiKeyAudit.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { type Forbidden, NotFound, type Unauthenticated, type Invalid } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Ids } from "../../platform/Ids.js"
import { atMillis } from "../../platform/time/AtMillis.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { ifWritable } from "../../platform/store/StoreUnavailable.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { type KeyUse, useOf } from "./ApiKey.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { ApiKeyRepository } from "./ApiKeyRepository.js"
import { LinkTokens } from "../logins/LinkTokens.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import type { SessionKey } from "./SessionKey.js"
import { sessionEnd } from "./SessionEnd.js"
import { SessionRepository, type StoredSession } from "./SessionRepository.js"
import type { User, UserStatus } from "../users/User.js"
import * as OwnUser from "../users/OwnUser.js"
import { UserDormancy } from "../users/UserDormancy.js"
import { UserRepository } from "../users/UserRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { inactive, credentialChecks } from "./CredentialChecks.js"
import { sessionActors } from "./SessionActors.js"
import { passwordLogin } from "./PasswordLogin.js"

const applicationConnectScope = "coder:application_connect"

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
   * The same without an effect, for a caller in no transaction: the actor of a key whose session is known and whose use is recorded already. Undefined where
   * `authenticate` has to decide, which every refusal is left to.
   */
  readonly authenticateNow: (token: Redacted.Redacted<string>, info: CallInfo) => Actor | undefined

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

  /** The user's status once it is seen. Active users, who send most requests, need no transaction. */
  const see = (user: Pick<User, "id" | "username" | "status">): Effect.Effect<UserStatus> =>
    user.status === "active"
      ? Effect.succeed(user.status)
      : transaction(dormancy.see(user)).pipe(Access.actingAs(SystemActor.systemRestricted), Effect.provide(services))

  /** Whether all passwords are hashed alike. Hashes of another scheme become fewer, and none is added, so that an old answer is a safe one. */
  const isOnlyScheme = yield* Effect.cachedWithTTL(
    hasher.scheme === undefined
      ? Effect.succeed(true)
      : Effect.map(accounts.hasOtherScheme(hasher.scheme), (others) => !others).pipe(Effect.catchAllCause(() => Effect.succeed(false))),
    schemeInterval
  )

  const slides = !options.disableSessionExpiryRefresh

  /** Wakes a dormant user, and records that the key is used: at most hourly, and if the store can be written. Answers what it wrote. Fails for a user that is not active. */
  const use = (session: StoredSession, info: CallInfo): Effect.Effect<KeyUse | undefined, Unauthenticated> =>
    Effect.gen(function* () {
      const status = yield* see({ id: session.user_id, username: session.username, status: session.status })
      if (status !== "active") return yield* inactive(status)
      const now = yield* Clock.currentTimeMillis
      const written = useOf(session, { now, ip: info.ip ?? "", slides })
      if (written === undefined) return undefined
      // Reads go on while nothing can be written
      const recorded = yield* ifWritable(
        Effect.provide(transaction(sessions.recordUse(session, written, Timestamp.fromMillis(now))), services)
      )
      return Option.isSome(recorded) ? written : undefined
    })

  const clock = yield* Effect.clock
  const { lasting, presented, presentedNow } = credentialChecks({ options, sessions, links, cryptography })

  const { holderOf, actorOf, holderOfKey } = sessionActors({ options, presented, lasting })

  /** The actor of a key of whose use nothing has to be written. */
  const usedBefore = (token: Redacted.Redacted<string>, info: CallInfo, session: StoredSession, now: number): Actor | undefined => {
    if (session.status !== "active" || useOf(session, { now, ip: info.ip ?? "", slides }) !== undefined) return undefined
    const actor = actorOf(token, info, session, session.expires_at)
    OwnUser.keep(actor, session.user, now)
    return actor
  }

  return {
    authenticate: (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
      Effect.flatMap(presented(token, info), (session) =>
        atMillis((now) => {
          const actor = usedBefore(token, info, session, now)
          // A use that is written changes the user too, and so does waking up
          return actor === undefined
            ? Effect.map(use(session, info), (written) => actorOf(token, info, session, written?.expires_at ?? session.expires_at))
            : Effect.succeed(actor)
        })
      ),

    authenticateNow: (token: Redacted.Redacted<string>, info: CallInfo): Actor | undefined => {
      const now = clock.unsafeCurrentTimeMillis()
      const session = presentedNow(token, info, now)
      return session === undefined ? undefined : usedBefore(token, info, session, now)
    },

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

    ...passwordLogin({ accounts, options, see, keys, hasher, users, isOnlyScheme, scope }),

    logOut: Traced.fn("Sessions.logOut")(function* () {
      const { apiKeyId, userId } = yield* CurrentActor
      if (apiKeyId === undefined) return yield* new NotFound({ resource: "api_key" })
      yield* Audit.audited(
        { action: "logout", resource: apiKeyAudit, id: userId, target: "" },
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
