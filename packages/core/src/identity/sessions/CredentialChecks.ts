import { Effect, Option, Redacted, Schema } from "effect"
import type { CallInfo } from "../../access/actors/Actor.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Unauthenticated } from "../../platform/Errors.js"
import { doneWith } from "../../platform/wiring/doneWith.js"
import { atMillis } from "../../platform/time/AtMillis.js"
import { parseCredential } from "./ApiKey.js"
import { coversPath } from "./Audience.js"
import type { LinkTokens } from "../logins/LinkTokens.js"
import { sessionEnd } from "./SessionEnd.js"
import type { SessionRepository, StoredSession } from "./SessionRepository.js"
import type { UserStatus } from "../users/User.js"
import { isExternalLoginType } from "../logins/UserLink.js"

const Audience = Schema.parseJson(Schema.Array(Schema.String))

const unknownKey = new Unauthenticated({ message: "The session token is invalid." })

export const inactive = (status: UserStatus): Unauthenticated =>
  new Unauthenticated({ message: `Your account is ${status}. Contact an admin to reactivate it.` })

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly sessions: SessionRepository["Type"]
  readonly links: LinkTokens["Type"]
  readonly cryptography: Cryptography["Type"]
}

/** Whether a key is right, unexpired, and meant for the call that presents it. */
export const credentialChecks = ({ options, sessions, links, cryptography }: Needs) => {
  /** Whether the key is bound to nothing, or to what is called among others. */
  const isMeantFor = ({ audience }: Pick<StoredSession, "audience">, { path }: CallInfo): boolean =>
    audience === null || Schema.decodeSync(Audience)(audience).some((resource) => coversPath(resource, options.accessUrl, path))

  /** Fails if the session does not last at `now`, in milliseconds since 1970, or is not meant for the call. */
  const judged = (
    session: StoredSession,
    info: CallInfo,
    hashedSecret: Uint8Array,
    now: number
  ): Effect.Effect<StoredSession, Unauthenticated> => {
    switch (sessionEnd({ session, hashedSecret, now })) {
      case "wrong_secret":
      case "user_deleted":
        return unknownKey
      case "expired":
        return new Unauthenticated({ message: unknownKey.message, detail: `The session token expired at ${session.expires_at}.` })
      case "user_suspended":
        return inactive(session.status)
    }
    if (!isMeantFor(session, info)) {
      return new Unauthenticated({
        message: unknownKey.message,
        detail: "The token's audience is another server, or another part or address of this one."
      })
    }
    if (session.dpop_jkt !== (info.dpopKey ?? null)) {
      return new Unauthenticated({
        message: unknownKey.message,
        detail: "The token is bound to a key, and the call has no proof of it; or it has a proof, and the token is bound to none."
      })
    }
    return isExternalLoginType(session.login_type)
      ? Effect.as(links.requireCurrent(session.user_id, session.login_type), session)
      : Effect.succeed(session)
  }

  /** The session of a key that has not expired. Without a hash something else vouches for the key. */
  const lasting = (id: string, info: CallInfo, hashedSecret?: Uint8Array): Effect.Effect<StoredSession, Unauthenticated> =>
    Effect.flatMap(sessions.byKeyId(id), (found) =>
      Option.isNone(found) ? unknownKey : atMillis((now) => judged(found.value, info, hashedSecret ?? found.value.hashed_secret, now))
    )

  /** The session of a key that is right and has not expired. */
  const presented = (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<StoredSession, Unauthenticated> => {
    const credential = parseCredential(Redacted.value(token))
    return credential === undefined
      ? unknownKey
      : Effect.flatMap(hashSecret(cryptography, credential.secret), (hashedSecret) => lasting(credential.id, info, hashedSecret))
  }

  /** The same without an effect, for the usual case alone; undefined also for every key that is refused. */
  const presentedNow = (token: Redacted.Redacted<string>, info: CallInfo, now: number): StoredSession | undefined => {
    const credential = parseCredential(Redacted.value(token))
    const session = credential === undefined ? undefined : sessions.knownByKeyId(credential.id)
    if (credential === undefined || session === undefined) return undefined
    const hashedSecret = doneWith(hashSecret(cryptography, credential.secret))
    return hashedSecret === undefined ? undefined : doneWith(judged(session, info, hashedSecret, now))
  }

  return { lasting, presented, presentedNow }
}

/** The result of {@link credentialChecks}. */
export type CredentialChecks = ReturnType<typeof credentialChecks>
