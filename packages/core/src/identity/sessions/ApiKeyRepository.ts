import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { AuditEntry } from "../../audit/AuditEntry.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { ApiKey } from "./ApiKey.js"
import type { UserId } from "../users/User.js"

/** A token, and whose it is; the name is empty where the reader may not know. */
export interface TokenOfUser {
  readonly token: ApiKey
  readonly username: string
}

/** A key on its way into the store. */
export interface KeyIssue {
  readonly key: ApiKey
  readonly hashedSecret: Uint8Array
  readonly entry: AuditEntry
  /** The user whose credential asks for the key. */
  readonly actor: UserId
  /** The id of that credential; undefined for work without one. */
  readonly credential: string | undefined
  readonly now: Timestamp
  readonly limit: number
}

/** What became of a key. */
export type IssueOutcome = "issued" | "user_gone" | "credential_ended" | "limit_reached"

export class ApiKeyRepository extends Context.Tag("@atelier/core/ApiKeyRepository")<
  ApiKeyRepository,
  {
    /** Fails with the index `api_keys_user_id_token_name` when the user has a token of that name. */
    readonly insert: (key: ApiKey, hashedSecret: Uint8Array) => Effect.Effect<void, Duplicate>
    /**
     * Stores a key that a credential was used to make, and the entry of its creation, in one statement or one transaction: unless the user or the actor
     * is gone, the credential has ended, or the user has `limit` keys. Calls at once may go beyond the limit, by as many keys as calls, and so may
     * keys that other calls or processes have stored since the last count: at most after 64 keys of one process the user's keys are counted.
     * A change that ends the keys of either user waits for calls that have begun, and then ends their keys too. Fails as `insert` does.
     */
    readonly issue: (issue: KeyIssue) => Effect.Effect<IssueOutcome, Duplicate>
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
