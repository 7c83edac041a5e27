import { Effect, type Redacted } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { allScope } from "../../access/scopes/Scope.js"
import type { Options } from "../../deployment/options/DeploymentOptions.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { type KeyLoginType, newApiKey, newCredential } from "./ApiKey.js"
import type { ApiKeyRepository } from "./ApiKeyRepository.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import type { UserId } from "../users/User.js"

/** A session's key as it is stored. */
export interface SessionKey {
  readonly id: string
  readonly hashedSecret: Uint8Array
}

/** Where a login writes. */
export interface SessionStore {
  readonly keys: Pick<ApiKeyRepository["Type"], "insert">
  readonly accounts: Pick<AccountRepository["Type"], "recordSeen">
}

/**
 * Stores the key of a session, and that its user was seen: a user without a later request would otherwise become dormant. Runs in the caller's
 * transaction, which has locked the user. Fails with `Duplicate` if a key with this id exists.
 */
export const storeSession = (
  { accounts, keys }: SessionStore,
  { sessionDuration }: Pick<Options, "sessionDuration">,
  { hashedSecret, id }: SessionKey,
  { login_type, user_id }: { readonly user_id: UserId; readonly login_type: KeyLoginType }
): Effect.Effect<void, Duplicate, CurrentActor> =>
  Effect.gen(function* () {
    const { ip = "" } = yield* CurrentActor
    const now = yield* Timestamp.now
    const session = newApiKey(
      {
        id,
        user_id,
        login_type,
        ip,
        token_name: "",
        scopes: [allScope],
        allow_list: unrestrictedAllowList,
        lifetime: sessionDuration
      },
      now
    )
    yield* keys.insert(session, hashedSecret)
    yield* accounts.recordSeen(user_id, now)
  })

/** Stores the key of a just authenticated user's session, as `storeSession` does. Returns the token. identity.md §2.6. */
export const openSession = (
  store: SessionStore,
  options: Pick<Options, "sessionDuration">,
  holder: { readonly user_id: UserId; readonly login_type: KeyLoginType }
): Effect.Effect<Redacted.Redacted<string>, never, CurrentActor | Cryptography> =>
  Effect.gen(function* () {
    const { key, ...stored } = yield* newCredential
    yield* Effect.orDie(storeSession(store, options, stored, holder))
    return key
  })
