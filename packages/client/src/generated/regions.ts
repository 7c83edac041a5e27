// Generated from the contract by `npm run generate`. Changes here are lost.
/** The processes that serve the deployment, and the regions that they serve from. */
import type { Client } from "../Client.js"
import { addressOf, call, json, type CallOptions } from "../call.js"
import type { AppHostResponse, RegionsResponse, Replica } from "./types.js"

/**
 * List replicas. Returns the processes of the deployment that are alive, the oldest first.
 *
 * `GET /api/v2/replicas`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listReplicas = (client: Client, options?: CallOptions): Promise<ReadonlyArray<Replica>> =>
  call(client, "GET", "/api/v2/replicas", json, {}, options)

/**
 * List regions. Returns the regions that apps are reached in. The deployment itself is the primary one.
 *
 * `GET /api/v2/regions`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listRegions = (client: Client, options?: CallOptions): Promise<RegionsResponse> =>
  call(client, "GET", "/api/v2/regions", json, {}, options)

/**
 * Get the host of apps. Returns the pattern of host names that apps are served at. It is empty where they are served by path alone.
 *
 * `GET /api/v2/applications/host`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAppHost = (client: Client, options?: CallOptions): Promise<AppHostResponse> =>
  call(client, "GET", "/api/v2/applications/host", json, {}, options)

export interface RedirectToAppAddressInput {
  /** At most 8192 characters. */
  readonly redirect_uri: string
}

/**
 * Sign in at an app's host. Sends a browser that is signed in to the service back to an app's host, with a session for apps in an encrypted parameter.
 *
 * Returns the address without a request: a browser is to go there.
 *
 * `GET /api/v2/applications/auth-redirect`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const redirectToAppAddress = (client: Client, input: RedirectToAppAddressInput): string =>
  addressOf(client, "/api/v2/applications/auth-redirect", input)
