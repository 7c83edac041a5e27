import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../../access/AccessPredicate.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/Timestamp.js"
import type { ApiKey } from "./ApiKey.js"
import type { UserId } from "../users/User.js"

/** A token, and whose it is; the name is empty where the reader may not know. */
export interface TokenOfUser {
  readonly token: ApiKey
  readonly username: string
}

export class ApiKeyRepository extends Context.Tag("@atelier/core/ApiKeyRepository")<
  ApiKeyRepository,
  {
    /** Fails with the index `api_keys_user_id_token_name` when the user has a token of that name. */
    readonly insert: (key: ApiKey, hashedSecret: Uint8Array) => Effect.Effect<void, Duplicate>
    readonly byId: (id: string) => Effect.Effect<Option.Option<ApiKey>>
    /** A user's key of that name: the token, if there is one. */
    readonly byName: (userId: UserId, name: string) => Effect.Effect<Option.Option<ApiKey>>
    /** The tokens the predicate admits, oldest first: of one user or of all, those that expire before `unexpiredAt` left out. */
    readonly tokens: (filter: {
      readonly userId?: UserId | undefined
      readonly unexpiredAt?: Timestamp | undefined
      readonly readable: AccessPredicate
      readonly usersReadable: AccessPredicate
    }) => Effect.Effect<ReadonlyArray<TokenOfUser>>
    /** How many keys a user has, expired ones too; counted no further than `limit`. */
    readonly count: (userId: UserId, limit: number) => Effect.Effect<number>
    /** False when there is no such key. */
    readonly delete: (id: string) => Effect.Effect<boolean>
    /** Brings a key's end forward to an instant; false when it ends before, or there is no such key. */
    readonly expire: (id: string, at: Timestamp) => Effect.Effect<boolean>
    /** Deletes a user's keys that have the scope. */
    readonly deleteWithScope: (userId: UserId, scope: string) => Effect.Effect<void>
    /** Deletes at most `limit` keys that expired before an instant; answers how many. */
    readonly deleteExpired: (before: Timestamp, limit: number) => Effect.Effect<number>
  }
>() {}
