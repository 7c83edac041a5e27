/** What an OpenID Connect provider grants: its tokens, and the claims that it has signed or tells. identity.md §7.3. */
import type { LinkClaims, ProviderFailure, ProviderTokens } from "@atelier/core/identity"
import { Invalid, Timestamp } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { jwtVerify } from "jose"
import * as client from "openid-client"
import type { Claims } from "./OidcClaims.js"
import { clockTolerance, type Discovered } from "./OidcDiscovery.js"
import { failed, isWrongSignature, wrongToken } from "./OidcFailures.js"
import { tokenExpiry } from "./tokenExpiry.js"

/** Signatures that only the provider can make. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

/** Returns the tokens of a grant as they are kept. */
export const tokensFrom = (answer: client.TokenEndpointResponse): Effect.Effect<ProviderTokens> =>
  Effect.map(Timestamp.now, (now) => ({
    access_token: Redacted.make(answer.access_token),
    refresh_token: Redacted.make(answer.refresh_token ?? ""),
    expires_at: answer.expires_in === undefined ? null : tokenExpiry(now, answer.expires_in)
  }))

/** Returns the claims of a token. Fails with `Invalid` unless the provider has signed it. */
export const verified = (token: string, { keys }: Discovered, issuer?: string): Effect.Effect<Claims, Invalid | ProviderFailure> =>
  Effect.tryPromise({
    try: async (): Promise<Claims> =>
      (await jwtVerify(token, keys, { algorithms, clockTolerance, ...(issuer === undefined ? {} : { issuer }) })).payload,
    catch: (error) => (isWrongSignature(error) ? wrongToken(error) : failed("The provider's keys could not be read.")(error))
  })

/** The further source of claims, beside the ID token. */
interface Sources {
  readonly oidcAccessTokenClaims: boolean
  readonly oidcIgnoreUserinfo: boolean
}

/** Merges the ID token's claims with those of other sources by precedence. */
export const mergedClaims = (
  options: Sources,
  given: client.TokenEndpointResponse,
  signed: Claims,
  provider: Discovered
): Effect.Effect<Omit<LinkClaims, "id_token_claims">, Invalid | ProviderFailure> =>
  Effect.gen(function* () {
    const { configuration, metadata } = provider
    if (options.oidcAccessTokenClaims) {
      const claims = yield* verified(given.access_token, provider, metadata.issuer)
      if (claims["sub"] !== undefined && claims["sub"] !== signed["sub"]) {
        return yield* new Invalid({ message: "The provider's tokens belong to two users." })
      }
      return { user_info_claims: claims, merged_claims: { ...claims, ...signed } }
    }
    if (options.oidcIgnoreUserinfo || metadata.userinfo_endpoint === undefined) {
      return { user_info_claims: {}, merged_claims: signed }
    }
    const claims: Claims = yield* Effect.tryPromise({
      try: () => client.fetchUserInfo(configuration, given.access_token, String(signed["sub"])),
      catch: failed("The provider's user info could not be read.")
    })
    return { user_info_claims: claims, merged_claims: { ...signed, ...claims } }
  })
