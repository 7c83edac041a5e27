import { Effect, type Redacted } from "effect"
import { CurrentActor } from "../../access/Actor.js"
import { unrestrictedAllowList } from "../../access/AllowList.js"
import { allScope } from "../../access/Scope.js"
import type { Options } from "../../deployment/DeploymentOptions.js"
import type { Cryptography } from "../../platform/Cryptography.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { type KeyLoginType, newApiKey, newCredential } from "./ApiKey.js"
import type { ApiKeyRepository } from "./ApiKeyRepository.js"
import type { UserId } from "../users/User.js"

/** Stores the key of a session for a user who has just proven who that is; answers what its holder presents. identity.md §2.6. */
export const openSession = (
  keys: ApiKeyRepository["Type"],
  { session_lifetime }: Pick<Options, "session_lifetime">,
  { login_type, user_id }: { readonly user_id: UserId; readonly login_type: KeyLoginType }
): Effect.Effect<Redacted.Redacted<string>, never, CurrentActor | Cryptography> =>
  Effect.gen(function* () {
    const { hashedSecret, id, key } = yield* newCredential
    const { ip = "" } = yield* CurrentActor
    const session = newApiKey(
      {
        id,
        user_id,
        login_type,
        ip,
        token_name: "",
        scopes: [allScope],
        allow_list: unrestrictedAllowList,
        lifetime: session_lifetime.default_duration
      },
      yield* Timestamp.now
    )
    yield* Effect.orDie(keys.insert(session, hashedSecret))
    return key
  })
