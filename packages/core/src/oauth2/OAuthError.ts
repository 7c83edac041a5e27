import { Data } from "effect"

/** The error codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2 and OpenID Connect Core §3.1.2.6 that the service answers. */
export type OAuthErrorCode =
  | "access_denied"
  | "authorization_pending"
  | "account_selection_required"
  | "consent_required"
  | "expired_token"
  | "invalid_client"
  | "invalid_client_id"
  | "invalid_client_metadata"
  | "invalid_dpop_proof"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_request_uri"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_token"
  | "login_required"
  | "request_not_supported"
  | "server_error"
  | "slow_down"
  | "temporarily_unavailable"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type"

/** A refusal that an OAuth2 client reads: its code is the protocol's. `forbidden` sets it apart from a request that is only wrong. */
export class OAuthError extends Data.TaggedError("OAuthError")<{
  readonly error: OAuthErrorCode
  readonly message: string
  readonly forbidden?: boolean
}> {}

export const invalidRequest = (message: string): OAuthError => new OAuthError({ error: "invalid_request", message })
export const invalidGrant = (message: string): OAuthError => new OAuthError({ error: "invalid_grant", message })
export const invalidTarget = (message: string): OAuthError => new OAuthError({ error: "invalid_target", message })

/** One text for an unknown client and a wrong secret, so that the answer does not tell them apart. */
export const invalidClient = new OAuthError({ error: "invalid_client", message: "The client credentials are invalid." })
