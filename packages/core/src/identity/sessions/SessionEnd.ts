/** What ends a session. A session whose key was deleted has ended too, without a row to look at. identity.md §2.4. */
import { constantTimeEquals } from "../../platform/secrets/Cryptography.js"
import { statusAfter } from "../users/UserStatus.js"
import { isExpired } from "./ApiKey.js"
import type { StoredSession } from "./SessionRepository.js"

export type SessionEnd = "wrong_secret" | "user_deleted" | "expired" | "user_suspended"

/** A stored session, the hash of the secret that a caller presents for it, and the time in milliseconds since 1970. */
export interface PresentedSession {
  readonly session: Pick<StoredSession, "hashed_secret" | "deleted" | "expires_at" | "status">
  readonly hashedSecret: Uint8Array
  readonly now: number
}

const ends: Readonly<Record<SessionEnd, (presented: PresentedSession) => boolean>> = {
  wrong_secret: ({ hashedSecret, session }) => !constantTimeEquals(session.hashed_secret, hashedSecret),
  user_deleted: ({ session }) => session.deleted,
  expired: ({ now, session }) => isExpired(session, now),
  user_suspended: ({ session }) => statusAfter(session.status, "see") === undefined
}

const order: ReadonlyArray<SessionEnd> = ["wrong_secret", "user_deleted", "expired", "user_suspended"]

/** The first reason why the session has ended, or undefined while it lasts. The login at a provider can have ended too. */
export const sessionEnd = (presented: PresentedSession): SessionEnd | undefined => order.find((end) => ends[end](presented))
