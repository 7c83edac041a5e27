import { Effect, Encoding, Option } from "effect"
import type { CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { constantTimeEquals } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { isSameAudience } from "../../identity/sessions/Audience.js"
import type { GrantRepository } from "./GrantRepository.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidGrant, invalidRequest, invalidTarget, type OAuthError } from "../OAuthError.js"
import { hashText, presentedSecret } from "./OAuthSecret.js"
import { matchesRedirectUri } from "../clients/RedirectUri.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { GrantRenewal } from "./GrantRenewal.js"
import type { GrantEnding } from "./GrantEnding.js"
import type { CodeExchange } from "./OAuth2Tokens.js"
import { requireIndicators, isRight, type Outcome, otherKey } from "./GrantChecks.js"

const verifierForm = /^[A-Za-z0-9._~-]{43,128}$/

const encoder = new TextEncoder()

const isSame = (left: string, right: string): boolean => constantTimeEquals(encoder.encode(left), encoder.encode(right))

const badCode = invalidGrant("The authorization code is invalid, has expired or has been used.")

interface Needs
  extends Pick<DeploymentOptions["Type"], "brand">, Pick<GrantRenewal, "newTokens" | "judged" | "renew">, Pick<GrantEnding, "end"> {
  readonly repository: GrantRepository["Type"]
}

/** The exchange of an authorization code for tokens. oauth2-provider.md §7. */
export const codeRedemption = ({ brand, repository, newTokens, judged, end, renew }: Needs) => ({
  redeem: Traced.fn("OAuth2Tokens.redeem")(function* (client: AuthenticatedClient, request: CodeExchange, info: CallInfo) {
    yield* requireAuthenticated(client)
    const { app, secretId } = client
    if (!verifierForm.test(request.code_verifier))
      return yield* invalidRequest("code_verifier: must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
    if (request.redirect_uri !== undefined && !app.redirect_uris.some((uri) => matchesRedirectUri(uri, request.redirect_uri ?? "")))
      return yield* invalidRequest("redirect_uri: is not one of the client's")
    const resource = yield* requireIndicators(request.resource)
    const challenge = Encoding.encodeBase64Url(yield* hashText(request.code_verifier))

    const presented = yield* presentedSecret(brand, request.code)
    if (presented === undefined) return yield* badCode
    const found = yield* repository.byCode(presented.prefix)
    if (Option.isNone(found) || !isRight(found.value, presented.hashedSecret) || found.value.value.app_id !== app.id) return yield* badCode
    const { id, user_id } = found.value.value
    const tokens = yield* newTokens

    return yield* judged(id, user_id, info, badCode, (grant, user) =>
      Effect.gen(function* (): Effect.fn.Return<Outcome, never, Effect.Effect.Context<ReturnType<typeof end>> | CurrentActor> {
        const refused = (error: OAuthError): Outcome => ({ refused: error })
        if (grant.status !== "issued") return yield* Effect.as(end(grant, "replay"), refused(badCode))
        const now = yield* Timestamp.now
        if (grant.code_expires_at < now) return yield* Effect.as(end(grant, "expire"), refused(badCode))
        if (user === undefined || user.status !== "active") return refused(invalidGrant("The user is not active."))
        if (grant.redirect_uri !== null && grant.redirect_uri !== request.redirect_uri)
          return refused(invalidGrant("redirect_uri: is not that of the authorization request"))
        if (!isSame(grant.code_challenge, challenge))
          return yield* Effect.as(end(grant, "mismatch"), refused(invalidGrant("code_verifier: does not belong to the code")))
        if (!isSameAudience(grant.resource, resource))
          return refused(invalidTarget("The resource is not that of the authorization request."))
        if (grant.dpop_jkt !== null && grant.dpop_jkt !== request.dpopKey) return refused(otherKey)
        return yield* renew(grant, "redeem", tokens, {
          scopes: grant.scopes,
          secretId,
          dpopKey: request.dpopKey,
          replaces: undefined,
          refused: badCode
        })
      })
    )
  })
})
