import { Duration, Effect, Option } from "effect"
import type { CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { expandAppScopes } from "../../access/scopes/AppScope.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { excess } from "../../identity/sessions/Delegation.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { isSameAudience } from "../../identity/sessions/Audience.js"
import type { Grant } from "./Grant.js"
import type { GrantRepository } from "./GrantRepository.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidGrant, invalidTarget, OAuthError } from "../OAuthError.js"
import { presentedSecret } from "./OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { GrantRenewal } from "./GrantRenewal.js"
import type { GrantEnding } from "./GrantEnding.js"
import type { RefreshRequest } from "./OAuth2Tokens.js"
import { requireIndicators, isRight, type Outcome, otherKey } from "./GrantChecks.js"

/**
 * How long a refresh token that was replaced may come again without a consequence: two windows of one editor have the same one, and may
 * refresh in the same instant. oauth2-provider.md P-16.
 */
const reuseGrace = Duration.seconds(60)

const badRefreshToken = invalidGrant("The refresh token is invalid, has expired or has been used.")

interface Needs
  extends
    Pick<DeploymentOptions["Type"], "narrowOauth2Scopes" | "brand">,
    Pick<GrantRenewal, "newTokens" | "judged" | "renew">,
    Pick<GrantEnding, "end"> {
  readonly repository: GrantRepository["Type"]
}

/** The exchange of a refresh token for the next tokens of its grant. */
export const tokenRefresh = ({ narrowOauth2Scopes, brand, repository, newTokens, judged, end, renew }: Needs) => {
  /** The scopes of the next access token; undefined if the client asks for more than the user has granted (RFC 6749 §6). */
  const renewedScopes = ({ scopes }: Grant, asked: string | undefined): ReadonlyArray<string> | undefined => {
    const names = [...new Set((asked ?? "").split(/\s+/).filter((name) => name !== ""))]
    if (names.length === 0) return scopes
    if (!names.every(isExternalScope)) return undefined
    const wanted = names.map(canonicalScope)
    const held = { scope: expandAppScopes(scopes), allowList: unrestrictedAllowList }
    const beyond = excess(
      held,
      wanted.filter((name) => !scopes.includes(name)),
      []
    )
    if (beyond.length > 0) return undefined
    return !narrowOauth2Scopes && scopes.includes(allScope) ? [...new Set([allScope, ...wanted])] : wanted
  }

  return {
    refresh: Traced.fn("OAuth2Tokens.refresh")(function* (
      client: AuthenticatedClient,
      { dpopKey, refresh_token, resource: asked, scope }: RefreshRequest,
      info: CallInfo
    ) {
      yield* requireAuthenticated(client)
      const resource = yield* requireIndicators(asked)
      const presented = yield* presentedSecret(brand, refresh_token)
      if (presented === undefined) return yield* badRefreshToken
      const found = yield* repository.refreshToken(presented.prefix)
      if (Option.isNone(found) || !isRight(found.value, presented.hashedSecret)) return yield* badRefreshToken
      const owner = yield* repository.byId(found.value.value.grant_id)
      if (Option.isNone(owner) || owner.value.app_id !== client.app.id) return yield* badRefreshToken
      const tokens = yield* newTokens

      return yield* judged(owner.value.id, owner.value.user_id, info, badRefreshToken, (grant, user) =>
        Effect.gen(function* (): Effect.fn.Return<Outcome, never, Effect.Effect.Context<ReturnType<typeof end>> | CurrentActor> {
          const refused = (error: OAuthError): Outcome => ({ refused: error })
          const stored = yield* repository.refreshToken(presented.prefix)
          if (Option.isNone(stored)) return refused(badRefreshToken)
          const now = yield* Timestamp.now
          const { expires_at, rotated_at } = stored.value.value
          if (rotated_at !== null) {
            if (Timestamp.plus(rotated_at, reuseGrace) < now) yield* end(grant, "reuse")
            return refused(badRefreshToken)
          }
          if (expires_at < now) return refused(badRefreshToken)
          if (user === undefined || user.status !== "active") return refused(invalidGrant("The user is not active."))
          if (resource.length > 0 && !isSameAudience(grant.resource, resource))
            return refused(invalidTarget("The resource is not that of the authorization request."))
          // A confidential client authenticates, so that it may change its key (RFC 9449 §5)
          const isOtherKey = dpopKey === undefined || (client.app.client_type === "public" && grant.dpop_jkt !== dpopKey)
          if (grant.dpop_jkt !== null && isOtherKey) return refused(otherKey)
          const scopes = renewedScopes(grant, scope)
          if (scopes === undefined)
            return refused(
              new OAuthError({ error: "invalid_scope", message: "The scope reaches beyond that of the grant, or is unknown." })
            )
          return yield* renew(grant, "rotate", tokens, {
            scopes,
            dpopKey,
            secretId: client.secretId,
            replaces: presented.prefix,
            refused: badRefreshToken
          })
        })
      )
    })
  }
}
