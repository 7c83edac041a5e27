// Generated from the contract by `npm run generate`. Changes here are lost.
/** Apps that act for users by OAuth2, their secrets, and the settings of the authorization server. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { OAuth2ProviderApp, OAuth2ProviderAppSecret, OAuth2ProviderSettings } from "./types.js"

export interface ListOAuth2AppsInput {
  /** A UUID. */
  readonly user_id?: string | undefined
}

/**
 * List OAuth2 apps. Returns all apps by name. With `user_id` only those that have an access token of that user.
 *
 * `GET /api/v2/oauth2-provider/apps`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOAuth2Apps = (client: Client, input: ListOAuth2AppsInput = {}, options?: CallOptions): Promise<ReadonlyArray<OAuth2ProviderApp>> =>
  call(client, "GET", "/api/v2/oauth2-provider/apps", json, input, options)

export interface CreateOAuth2AppInput {
  readonly body: {
    readonly name: string
    readonly callback_url: string
    readonly icon?: string | undefined
  }
}

/**
 * Create an OAuth2 app. Creates an app without a secret.
 *
 * `POST /api/v2/oauth2-provider/apps`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createOAuth2App = (client: Client, input: CreateOAuth2AppInput, options?: CallOptions): Promise<OAuth2ProviderApp> =>
  call(client, "POST", "/api/v2/oauth2-provider/apps", json, input, options)

export interface GetOAuth2AppInput {
  /** A UUID. */
  readonly app: string
}

/**
 * Get an OAuth2 app. Returns an app.
 *
 * `GET /api/v2/oauth2-provider/apps/{app}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getOAuth2App = (client: Client, input: GetOAuth2AppInput, options?: CallOptions): Promise<OAuth2ProviderApp> =>
  call(client, "GET", "/api/v2/oauth2-provider/apps/{app}", json, input, options)

export interface UpdateOAuth2AppInput {
  /** A UUID. */
  readonly app: string
  readonly body: {
    readonly name: string
    readonly callback_url: string
    readonly icon?: string | undefined
  }
}

/**
 * Update an OAuth2 app. Replaces the name, the callback URL and the icon of an app.
 *
 * `PUT /api/v2/oauth2-provider/apps/{app}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateOAuth2App = (client: Client, input: UpdateOAuth2AppInput, options?: CallOptions): Promise<OAuth2ProviderApp> =>
  call(client, "PUT", "/api/v2/oauth2-provider/apps/{app}", json, input, options)

export interface DeleteOAuth2AppInput {
  /** A UUID. */
  readonly app: string
}

/**
 * Delete an OAuth2 app. Deletes an app with its secrets, codes and tokens.
 *
 * `DELETE /api/v2/oauth2-provider/apps/{app}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteOAuth2App = (client: Client, input: DeleteOAuth2AppInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/oauth2-provider/apps/{app}", nothing, input, options)

export interface ListOAuth2AppSecretsInput {
  /** A UUID. */
  readonly app: string
}

/**
 * List an OAuth2 app's secrets. Returns the last characters of each client secret, oldest first.
 *
 * `GET /api/v2/oauth2-provider/apps/{app}/secrets`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOAuth2AppSecrets = (client: Client, input: ListOAuth2AppSecretsInput, options?: CallOptions): Promise<ReadonlyArray<OAuth2ProviderAppSecret>> =>
  call(client, "GET", "/api/v2/oauth2-provider/apps/{app}/secrets", json, input, options)

export interface CreateOAuth2AppSecretResult {
  /** A UUID. */
  readonly id: string
  readonly client_secret_full: string
}

export interface CreateOAuth2AppSecretInput {
  /** A UUID. */
  readonly app: string
}

/**
 * Create an OAuth2 app's secret. Creates a client secret and shows it, this once. Earlier ones stay valid.
 *
 * `POST /api/v2/oauth2-provider/apps/{app}/secrets`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createOAuth2AppSecret = (client: Client, input: CreateOAuth2AppSecretInput, options?: CallOptions): Promise<CreateOAuth2AppSecretResult> =>
  call(client, "POST", "/api/v2/oauth2-provider/apps/{app}/secrets", json, input, options)

export interface DeleteOAuth2AppSecretInput {
  /** A UUID. */
  readonly app: string
  /** A UUID. */
  readonly secretID: string
}

/**
 * Delete an OAuth2 app's secret. Deletes a client secret. Tokens that were issued with it end.
 *
 * `DELETE /api/v2/oauth2-provider/apps/{app}/secrets/{secretID}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteOAuth2AppSecret = (client: Client, input: DeleteOAuth2AppSecretInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/oauth2-provider/apps/{app}/secrets/{secretID}", nothing, input, options)

/**
 * Get the OAuth2 settings. Returns whether clients may register themselves.
 *
 * `GET /api/v2/oauth2-provider/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getOAuth2Settings = (client: Client, options?: CallOptions): Promise<OAuth2ProviderSettings> =>
  call(client, "GET", "/api/v2/oauth2-provider/settings", json, {}, options)

export interface UpdateOAuth2SettingsInput {
  readonly body: {
    readonly dynamic_client_registration_enabled?: boolean | undefined
  }
}

/**
 * Update the OAuth2 settings. Changes the settings that are given.
 *
 * `PUT /api/v2/oauth2-provider/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateOAuth2Settings = (client: Client, input: UpdateOAuth2SettingsInput, options?: CallOptions): Promise<OAuth2ProviderSettings> =>
  call(client, "PUT", "/api/v2/oauth2-provider/settings", json, input, options)
