/** What the ways to tokens have in common: how a presented secret is compared, and what they refuse alike. */
import { Effect } from "effect"
import { constantTimeEquals } from "../../platform/secrets/Cryptography.js"
import { isResourceIndicator, normalizedResource } from "../../identity/sessions/Audience.js"
import type { Hashed } from "./GrantRepository.js"
import { invalidGrant, invalidRequest, type OAuthError } from "../OAuthError.js"
import type { IssuedTokens } from "./OAuth2Tokens.js"

export const otherKey = invalidGrant("The grant is bound to a key, which the client has to prove that it has.")

/** The decision on a request that found its grant: an attack ends the grant, and the client is refused all the same. */
export type Outcome = { readonly tokens: IssuedTokens } | { readonly refused: OAuthError }

export const isRight = ({ hashed_secret }: Hashed<unknown>, hashedSecret: Uint8Array): boolean =>
  constantTimeEquals(hashed_secret, hashedSecret)

export const requireIndicators = (resource: ReadonlyArray<string>) =>
  resource.every(isResourceIndicator)
    ? Effect.succeed(resource.map(normalizedResource))
    : invalidRequest("resource: must be an absolute URI without a fragment")
