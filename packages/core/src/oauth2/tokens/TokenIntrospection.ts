import { Effect, Option } from "effect"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { parseCredential } from "../../identity/sessions/ApiKey.js"
import type { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import type { UserRepository } from "../../identity/users/UserRepository.js"
import { type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { GrantRepository } from "./GrantRepository.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidClient } from "../OAuthError.js"
import { presentedSecret } from "./OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { IntrospectedToken } from "./OAuth2Tokens.js"
import { isRight } from "./GrantChecks.js"

interface Needs extends Pick<DeploymentOptions["Type"], "brand"> {
  readonly repository: GrantRepository["Type"]
  readonly cryptography: Cryptography["Type"]
  readonly keys: ApiKeyRepository["Type"]
  readonly users: UserRepository["Type"]
}

/** What a client learns about one of its tokens (RFC 7662). */
export const tokenIntrospection = ({ brand, repository, cryptography, keys, users }: Needs) => {
  /** What a text is as a token, with its grant; undefined for a text that is no token, or no good one. */
  const goodToken = (token: string) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const refresh = yield* presentedSecret(brand, token)
      if (refresh !== undefined) {
        const found = Option.getOrUndefined(yield* repository.refreshToken(refresh.prefix))
        if (found === undefined || !isRight(found, refresh.hashedSecret)) return undefined
        const { expires_at, grant_id, rotated_at } = found.value
        if (rotated_at !== null || expires_at < now) return undefined
        const grant = Option.getOrUndefined(yield* repository.byId(grant_id))
        return grant && ({ kind: "refresh", grant, scopes: grant.scopes, issued_at: grant.updated_at, expires_at } as const)
      }
      const credential = parseCredential(token)
      if (credential === undefined) return undefined
      const found = Option.getOrUndefined(yield* repository.byAccessToken(credential.id))
      if (found === undefined || !isRight(found, yield* hashSecret(cryptography, credential.secret))) return undefined
      const key = Option.getOrUndefined(yield* keys.byId(credential.id))
      if (key === undefined || key.expires_at < now) return undefined
      return { kind: "access", grant: found.value, scopes: key.scopes, issued_at: key.created_at, expires_at: key.expires_at } as const
    })

  return {
    introspect: Traced.fn("OAuth2Tokens.introspect")(function* (client: AuthenticatedClient, token: string) {
      yield* requireAuthenticated(client)
      if (client.app.client_type === "public") return yield* invalidClient
      const found = yield* goodToken(token)
      if (found === undefined || found.grant.app_id !== client.app.id || found.grant.status !== "active") return undefined
      const { grant, ...rest } = found
      const user = Option.getOrUndefined(yield* users.byId(grant.user_id))
      if (user === undefined || user.deleted || user.status !== "active") return undefined
      return {
        ...rest,
        user_id: user.id,
        username: user.username,
        resource: grant.resource,
        dpop_jkt: grant.dpop_jkt
      } satisfies IntrospectedToken
    })
  }
}
