import { externalScopes, legacyScope } from "@atelier/core/access"
import { type ApiKey as StoredKey, ApiKeys } from "@atelier/core/identity"
import { Duration, Effect } from "effect"
import * as contract from "../../contract/identity/keys.js"
import type { ApiKey } from "../../contract/identity/keys.js"
import * as Handlers from "../Handlers.js"

const keyView = (key: StoredKey): ApiKey => ({ ...key, scope: legacyScope(key.scopes) })

export const keys = Handlers.group(contract.keys, (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return handlers
      .handle("listScopes", Handlers.constant({ external: externalScopes }))
      .handle("createKey", ({ path }) => Effect.map(keys.create(path.user), (key) => ({ key })))
      .handle("createToken", ({ path, payload }) => Effect.map(keys.createToken(path.user, payload), (key) => ({ key })))
      .handle("listTokens", ({ path, urlParams }) =>
        Effect.map(keys.tokens(path.user, urlParams), (tokens) => tokens.map(({ token, username }) => ({ ...keyView(token), username })))
      )
      .handle("getTokenConfig", ({ path }) =>
        Effect.map(keys.maximumLifetime(path.user), (lifetime) => ({ max_token_lifetime: Number(Duration.unsafeToNanos(lifetime)) }))
      )
      .handle("getToken", ({ path }) => Effect.map(keys.byName(path.user, path.keyname), keyView))
      .handle("getKey", ({ path }) => Effect.map(keys.get(path.user, path.keyid), keyView))
      .handle("deleteKey", ({ path }) => keys.delete(path.user, path.keyid))
      .handle("expireKey", ({ path }) => keys.expire(path.user, path.keyid))
  })
)
