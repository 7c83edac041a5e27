// Generated from the contract by `npm run generate`. Changes here are lost.
/** The caller's links to external providers, such as git hosts. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { DeleteExternalAuthByIDResponse, ExternalAuth, ExternalAuthDevice, ListUserExternalAuthResponse } from "./types.js"

/**
 * List external authentication. Returns the configured providers and the caller's links. Expired tokens are renewed, and all are validated.
 *
 * `GET /api/v2/external-auth`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listExternalAuth = (client: Client, options?: CallOptions): Promise<ListUserExternalAuthResponse> =>
  call(client, "GET", "/api/v2/external-auth", json, {}, options)

export interface GetExternalAuthInput {
  /** At most 1024 characters. */
  readonly externalauth: string
}

/**
 * Get external authentication. Returns a provider and whether the caller is signed in to it. The token is validated.
 *
 * `GET /api/v2/external-auth/{externalauth}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getExternalAuth = (client: Client, input: GetExternalAuthInput, options?: CallOptions): Promise<ExternalAuth> =>
  call(client, "GET", "/api/v2/external-auth/{externalauth}", json, input, options)

export interface DeleteExternalAuthInput {
  /** At most 1024 characters. */
  readonly externalauth: string
}

/**
 * Unlink a provider. Removes the caller's link to a provider and revokes its tokens there.
 *
 * `DELETE /api/v2/external-auth/{externalauth}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteExternalAuth = (client: Client, input: DeleteExternalAuthInput, options?: CallOptions): Promise<DeleteExternalAuthByIDResponse> =>
  call(client, "DELETE", "/api/v2/external-auth/{externalauth}", json, input, options)

export interface StartExternalAuthDeviceInput {
  /** At most 1024 characters. */
  readonly externalauth: string
}

/**
 * Start a device flow. Returns the codes of a new device authorization (RFC 8628) at a provider.
 *
 * `GET /api/v2/external-auth/{externalauth}/device`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const startExternalAuthDevice = (client: Client, input: StartExternalAuthDeviceInput, options?: CallOptions): Promise<ExternalAuthDevice> =>
  call(client, "GET", "/api/v2/external-auth/{externalauth}/device", json, input, options)

export interface CompleteExternalAuthDeviceInput {
  /** At most 1024 characters. */
  readonly externalauth: string
  readonly body: {
    readonly device_code: string
  }
}

/**
 * Complete a device flow. Links the caller to a provider once the user has entered the code there. Until then, it is refused with the provider's code as the detail.
 *
 * `POST /api/v2/external-auth/{externalauth}/device`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const completeExternalAuthDevice = (client: Client, input: CompleteExternalAuthDeviceInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/external-auth/{externalauth}/device", nothing, input, options)
