import { Context, type Effect, type Option, Schema } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { UserId } from "../users/User.js"

/** A public key by which a user's SSH client logs in. The user alone has its private half. */
export const SshKey = Schema.Struct({
  id: Uuid,
  user_id: UserId,
  name: Schema.String,
  /** The type and the key, separated by a space. */
  public_key: Schema.String,
  /** `SHA256:` and the hash in base64, as `ssh-keygen -l` prints it. No two users have the same key. */
  fingerprint: Schema.String,
  created_at: Timestamp.Timestamp,
  /** Exact to the hour; null for a key that was never used. */
  last_used_at: Schema.NullOr(Timestamp.Timestamp)
}).annotations({ identifier: "UserSshKey" })
export interface SshKey extends Schema.Schema.Type<typeof SshKey> {}

/** The keys by which users' SSH clients log in. */
export class SshKeyRepository extends Context.Tag("@atelier/core/SshKeyRepository")<
  SshKeyRepository,
  {
    /** Fails where a user has the key. */
    readonly insert: (key: SshKey) => Effect.Effect<void, Duplicate>
    /** The user's keys, oldest first. */
    readonly ofUser: (userId: UserId) => Effect.Effect<ReadonlyArray<SshKey>>
    readonly byId: (id: Uuid) => Effect.Effect<Option.Option<SshKey>>
    readonly byFingerprint: (fingerprint: string) => Effect.Effect<Option.Option<SshKey>>
    /** False when it was deleted already. */
    readonly delete: (id: Uuid) => Effect.Effect<boolean>
    /** Records a use, unless one was recorded since `before`. */
    readonly recordUse: (id: Uuid, now: Timestamp.Timestamp, before: Timestamp.Timestamp) => Effect.Effect<void>
  }
>() {}
