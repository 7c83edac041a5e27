// Generated from the contract by `npm run generate`. Changes here are lost.
/** Session keys and API tokens. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { APIKey, APIKeyWithOwner, ExternalAPIKeyScopes, TokenConfig } from "./types.js"

export interface CreateKeyResult {
  readonly key: string
}

export interface CreateKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Create a session key. Creates a session key of the caller, shown this once.
 *
 * `POST /api/v2/users/{user}/keys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createKey = (client: Client, input: CreateKeyInput, options?: CallOptions): Promise<CreateKeyResult> =>
  call(client, "POST", "/api/v2/users/{user}/keys", json, input, options)

export interface ListTokensInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly include_expired?: boolean | undefined
  readonly include_all?: boolean | undefined
}

/**
 * List tokens. Returns a user's API tokens without their secrets; with `include_all` those of every user that the caller may see.
 *
 * `GET /api/v2/users/{user}/keys/tokens`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTokens = (client: Client, input: ListTokensInput, options?: CallOptions): Promise<ReadonlyArray<APIKeyWithOwner>> =>
  call(client, "GET", "/api/v2/users/{user}/keys/tokens", json, input, options)

export interface CreateTokenResult {
  readonly key: string
}

export interface CreateTokenInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly token_name?: string | undefined
    /** Nanoseconds; 0 stands for the default of the deployment. */
    readonly lifetime?: number | undefined
    /** At most 1000 items. */
    readonly scopes?: ReadonlyArray<string> | undefined
    readonly scope?: string | undefined
    /** At most 1000 items. */
    readonly allow_list?: ReadonlyArray<{
      readonly type?: string | undefined
      readonly id?: string | undefined
    } | string> | undefined
  }
}

/**
 * Create a token. Creates an API token with a name, a lifetime, scopes and a list of permitted objects. The token is shown this once.
 *
 * `POST /api/v2/users/{user}/keys/tokens`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createToken = (client: Client, input: CreateTokenInput, options?: CallOptions): Promise<CreateTokenResult> =>
  call(client, "POST", "/api/v2/users/{user}/keys/tokens", json, input, options)

export interface GetTokenConfigInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get token limits. Returns the longest lifetime that a new token of the user can have, in nanoseconds.
 *
 * `GET /api/v2/users/{user}/keys/tokens/tokenconfig`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTokenConfig = (client: Client, input: GetTokenConfigInput, options?: CallOptions): Promise<TokenConfig> =>
  call(client, "GET", "/api/v2/users/{user}/keys/tokens/tokenconfig", json, input, options)

export interface GetTokenInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly keyname: string
}

/**
 * Get a token by name. Returns an API token without its secret.
 *
 * `GET /api/v2/users/{user}/keys/tokens/{keyname}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getToken = (client: Client, input: GetTokenInput, options?: CallOptions): Promise<APIKey> =>
  call(client, "GET", "/api/v2/users/{user}/keys/tokens/{keyname}", json, input, options)

export interface GetKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly keyid: string
}

/**
 * Get a key by id. Returns a session key or API token without its secret.
 *
 * `GET /api/v2/users/{user}/keys/{keyid}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getKey = (client: Client, input: GetKeyInput, options?: CallOptions): Promise<APIKey> =>
  call(client, "GET", "/api/v2/users/{user}/keys/{keyid}", json, input, options)

export interface DeleteKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly keyid: string
}

/**
 * Delete a key. Deletes a session key or API token, which stops working at once.
 *
 * `DELETE /api/v2/users/{user}/keys/{keyid}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteKey = (client: Client, input: DeleteKeyInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}/keys/{keyid}", nothing, input, options)

export interface ExpireKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly keyid: string
}

/**
 * Expire a key. Ends the validity of a key now and keeps its record.
 *
 * `PUT /api/v2/users/{user}/keys/{keyid}/expire`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const expireKey = (client: Client, input: ExpireKeyInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/users/{user}/keys/{keyid}/expire", nothing, input, options)

/**
 * List scopes. Returns the scopes that API tokens can be limited to. Needs no credential.
 *
 * `GET /api/v2/auth/scopes`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const listScopes = (client: Client, options?: CallOptions): Promise<ExternalAPIKeyScopes> =>
  call(client, "GET", "/api/v2/auth/scopes", json, {}, options)
