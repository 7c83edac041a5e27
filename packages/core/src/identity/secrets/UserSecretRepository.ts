import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { SealedColumn, SealedRow } from "../../platform/store/Resealing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { UserId } from "../users/User.js"
import type { UserSecret } from "./UserSecret.js"

/** An encrypted value, and how a workspace gets it. */
export interface SealedDelivery extends SealedRow {
  readonly env_name: string
  readonly file_path: string
}

export class UserSecretRepository extends Context.Tag("@atelier/core/UserSecretRepository")<
  UserSecretRepository,
  {
    /** Lets no other transaction change the user's secrets, or delete the user, until this one ends; false where there is no user any more. */
    readonly lock: (userId: UserId) => Effect.Effect<boolean>
    /**
     * Fails with the index `user_secrets_user_id_name`, `user_secrets_user_id_env_name` or `user_secrets_user_id_file_path_hash` when
     * another of the user's secrets has the same. The hash is the SHA-256 of the path, which itself is too long for an index.
     */
    readonly insert: (secret: UserSecret, value: Sealed, filePathHash: Uint8Array) => Effect.Effect<void, Duplicate>
    /** The user's secrets by name. */
    readonly ofUser: (userId: UserId) => Effect.Effect<ReadonlyArray<UserSecret>>
    /** Those of the user's secrets that the predicate admits, by name. */
    readonly list: (userId: UserId, readable: AccessPredicate) => Effect.Effect<ReadonlyArray<UserSecret>>
    readonly byName: (userId: UserId, name: string) => Effect.Effect<Option.Option<UserSecret>>
    /** Writes everything but the value. False when there is no such secret; fails as `insert` does. */
    readonly update: (secret: UserSecret, filePathHash: Uint8Array) => Effect.Effect<boolean, Duplicate>
    readonly setValue: (id: Uuid, value: Sealed) => Effect.Effect<void>
    /** False when there is no such secret. */
    readonly delete: (id: Uuid) => Effect.Effect<boolean>
    /** The secrets for the user's workspaces: the enabled ones, by name. */
    readonly delivered: (userId: UserId) => Effect.Effect<ReadonlyArray<SealedDelivery>>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
  }
>() {}
