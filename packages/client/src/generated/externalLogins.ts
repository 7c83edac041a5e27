// Generated from the contract by `npm run generate`. Changes here are lost.
/** Login with GitHub and OpenID Connect. */
import type { Client } from "../Client.js"
import { addressOf, call, json, type CallOptions } from "../call.js"
import type { ExternalAuthDevice, OAuth2DeviceFlowCallbackResponse, OIDCClaimsResponse, OIDCLinkClaims } from "./types.js"

export interface ConvertLoginResult {
  readonly state_string: string
  /** A time as RFC 3339 writes it. */
  readonly expires_at: string
  readonly to_type: "github" | "oidc"
  /** A UUID. */
  readonly user_id: string
}

export interface ConvertLoginInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly to_type: string
    readonly password: string
  }
}

/**
 * Convert a login. Begins the change of the caller's login type from a password to an external provider. The state is used once, in the provider's callback.
 *
 * `POST /api/v2/users/{user}/convert-login`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const convertLogin = (client: Client, input: ConvertLoginInput, options?: CallOptions): Promise<ConvertLoginResult> =>
  call(client, "POST", "/api/v2/users/{user}/convert-login", json, input, options)

/**
 * Get the caller's claims. Returns the claims that the OpenID Connect provider sent at the caller's last login.
 *
 * `GET /api/v2/users/oidc-claims`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getOidcClaims = (client: Client, options?: CallOptions): Promise<OIDCClaimsResponse> =>
  call(client, "GET", "/api/v2/users/oidc-claims", json, {}, options)

export interface GetUserClaimsInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's claims. Returns all claims that the OpenID Connect provider sent at the user's last login, for operators who look for mistakes in its settings.
 *
 * `GET /api/v2/debug/{user}/debug-link`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserClaims = (client: Client, input: GetUserClaimsInput, options?: CallOptions): Promise<OIDCLinkClaims> =>
  call(client, "GET", "/api/v2/debug/{user}/debug-link", json, input, options)

export interface OidcCallbackAddressInput {
  /** At most 4096 characters. */
  readonly code?: string | undefined
  /** At most 4096 characters. */
  readonly state?: string | undefined
  /** At most 4096 characters. */
  readonly error?: string | undefined
  /** At most 4096 characters. */
  readonly error_description?: string | undefined
  /** At most 4096 characters. */
  readonly error_uri?: string | undefined
  /** At most 4096 characters. */
  readonly redirect?: string | undefined
  /** At most 4096 characters. */
  readonly oidc_merge_state?: string | undefined
}

/**
 * Log in with OpenID Connect. Sends the browser to the OpenID Connect provider; with a `code` from there, logs the user in and redirects to the application.
 *
 * Returns the address without a request: a browser is to go there.
 *
 * `GET /api/v2/users/oidc/callback`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const oidcCallbackAddress = (client: Client, input: OidcCallbackAddressInput = {}): string =>
  addressOf(client, "/api/v2/users/oidc/callback", input)

export interface GithubCallbackInput {
  /** At most 4096 characters. */
  readonly code?: string | undefined
  /** At most 4096 characters. */
  readonly state?: string | undefined
  /** At most 4096 characters. */
  readonly error?: string | undefined
  /** At most 4096 characters. */
  readonly error_description?: string | undefined
  /** At most 4096 characters. */
  readonly error_uri?: string | undefined
  /** At most 4096 characters. */
  readonly redirect?: string | undefined
  /** At most 4096 characters. */
  readonly oidc_merge_state?: string | undefined
}

/**
 * Log in with GitHub. Sends the browser to GitHub; with a `code` from there, logs the user in. The device flow gets the target as JSON in place of a redirect.
 *
 * `GET /api/v2/users/oauth2/github/callback`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const githubCallback = (client: Client, input: GithubCallbackInput = {}, options?: CallOptions): Promise<OAuth2DeviceFlowCallbackResponse> =>
  call(client, "GET", "/api/v2/users/oauth2/github/callback", json, input, options)

export interface GithubCallbackAddressInput {
  /** At most 4096 characters. */
  readonly code?: string | undefined
  /** At most 4096 characters. */
  readonly state?: string | undefined
  /** At most 4096 characters. */
  readonly error?: string | undefined
  /** At most 4096 characters. */
  readonly error_description?: string | undefined
  /** At most 4096 characters. */
  readonly error_uri?: string | undefined
  /** At most 4096 characters. */
  readonly redirect?: string | undefined
  /** At most 4096 characters. */
  readonly oidc_merge_state?: string | undefined
}

/**
 * Log in with GitHub. Sends the browser to GitHub; with a `code` from there, logs the user in. The device flow gets the target as JSON in place of a redirect.
 *
 * Returns the address without a request: a browser is to go there.
 *
 * `GET /api/v2/users/oauth2/github/callback`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const githubCallbackAddress = (client: Client, input: GithubCallbackAddressInput = {}): string =>
  addressOf(client, "/api/v2/users/oauth2/github/callback", input)

/**
 * Start a GitHub device login. Returns the codes of a new device authorization (RFC 8628) at GitHub.
 *
 * `GET /api/v2/users/oauth2/github/device`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const startGithubDevice = (client: Client, options?: CallOptions): Promise<ExternalAuthDevice> =>
  call(client, "GET", "/api/v2/users/oauth2/github/device", json, {}, options)
