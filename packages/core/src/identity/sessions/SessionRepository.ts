import { Context, type Effect, type Option } from "effect"
import type { SubjectInput } from "../../access/actors/Subject.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { ApiKey, KeyUse } from "./ApiKey.js"
import type { UserId, UserStatus, UserWithOrganizations } from "../users/User.js"

/** Everything that one request needs to know of the key it presents. */
export interface StoredSession extends Pick<
  ApiKey,
  "id" | "user_id" | "last_used" | "ip" | "expires_at" | "lifetime_seconds" | "login_type"
> {
  readonly hashed_secret: Uint8Array
  readonly username: string
  readonly status: UserStatus
  readonly deleted: boolean
  /** The resources that the key is bound to (RFC 8707), as JSON; null where it is bound to none. */
  readonly audience: string | null
  /** The thumbprint of the key that the holder has to have (RFC 9449 §6); null for a bearer's. */
  readonly dpop_jkt: string | null
  /** The data that decide the rights of the key. */
  readonly rights: StoredRights
  /** The whole user, which few requests need. */
  readonly user: () => UserWithOrganizations
}

/** Rights that are read only when they are new: most requests come with rights that an earlier one came with. */
export interface StoredRights {
  /** Equal for two keys exactly when what `read` answers is. */
  readonly fingerprint: string
  readonly read: () => Omit<SubjectInput, "options"> & { readonly userId: UserId }
}

export class SessionRepository extends Context.Tag("@atelier/core/SessionRepository")<
  SessionRepository,
  {
    /** In one statement: it runs before every request. */
    readonly byKeyId: (id: string) => Effect.Effect<Option.Option<StoredSession>>
    /** The session of a key as it is stored now, where that is known without reading it. */
    readonly knownByKeyId: (id: string) => StoredSession | undefined
    /** Writes the use of a key and that its user was seen, unless another request has since `session` was read. */
    readonly recordUse: (session: StoredSession, use: KeyUse, at: Timestamp) => Effect.Effect<void>
  }
>() {}
