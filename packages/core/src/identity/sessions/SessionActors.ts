import { Effect, type Redacted } from "effect"
import type { Actor, ActorCredential, CallInfo } from "../../access/actors/Actor.js"
import { buildSubject, type Subject } from "../../access/actors/Subject.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Unauthenticated } from "../../platform/Errors.js"
import * as Lru from "../../platform/collections/Lru.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { StoredRights, StoredSession } from "./SessionRepository.js"
import { type CredentialChecks, inactive } from "./CredentialChecks.js"

/** Subjects kept between requests: one for each set of rights in use. */
const subjectCapacity = 1024

/** Characters of the rights of those. A subject takes about five bytes for each: a token may have an allow list of 128 entries, and a user thousands of tokens. */
const maximumRights = 2 ** 22

interface Needs extends Pick<CredentialChecks, "presented" | "lasting"> {
  readonly options: DeploymentOptions["Type"]
}

/** The actors that sessions stand for. */
export const sessionActors = ({ options, presented, lasting }: Needs) => {
  const subjects = Lru.make<string, Subject>(subjectCapacity, { maximum: maximumRights, weightOf: ({ length }) => length })

  /** Compiled once for the exact rights: a change of any of them makes another fingerprint. */
  const subjectOf = (rights: StoredRights): Subject => {
    const known = subjects.get(rights.fingerprint)
    if (known !== undefined) return known
    const subject = buildSubject({ ...rights.read(), options })
    subjects.set(rights.fingerprint, subject)
    return subject
  }

  // Property by property: what is spread of another object takes a request five times as long, a twentieth of a small one
  const holderOf = (info: CallInfo, session: StoredSession, credential?: ActorCredential): Actor => ({
    ip: info.ip,
    userAgent: info.userAgent,
    requestId: info.requestId,
    path: info.path,
    dpopKey: info.dpopKey,
    subject: subjectOf(session.rights),
    userId: session.user_id,
    username: session.username,
    apiKeyId: session.id,
    isApp: session.login_type === "oauth2_provider_app",
    credential
  })

  const actorOf = (token: Redacted.Redacted<string>, info: CallInfo, session: StoredSession, expiresAt: Timestamp.Timestamp): Actor =>
    holderOf(info, session, { renew: Effect.suspend(() => renew(token, info)), expiresAt: Timestamp.toMillis(expiresAt) })

  /** Listening is not a use of the key: a dormant user stays dormant, and the expiry does not move */
  const renew = (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.flatMap(presented(token, info), (session) =>
      session.status === "active" ? Effect.succeed(actorOf(token, info, session, session.expires_at)) : inactive(session.status)
    )

  const holderOfKey = (id: string, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.flatMap(lasting(id, info), (session) =>
      session.status === "active"
        ? Effect.succeed(
            holderOf(info, session, {
              renew: Effect.suspend(() => holderOfKey(id, info)),
              expiresAt: Timestamp.toMillis(session.expires_at)
            })
          )
        : inactive(session.status)
    )

  return { holderOf, actorOf, holderOfKey }
}
