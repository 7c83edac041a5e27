// Generated from the contract by `npm run generate`. Changes here are lost.
/** The service's version and health. */
import type { Client } from "../Client.js"
import { call, json, text, type CallOptions } from "../call.js"
import type { BuildInfoResponse, Entitlements, HealthDetails, Message } from "./types.js"

/**
 * Greet a client. Confirms that the service answers below this path.
 *
 * `GET /api/v2`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const index = (client: Client, options?: CallOptions): Promise<Message> =>
  call(client, "GET", "/api/v2", json, {}, options)

/**
 * Get build information. Returns the version that runs, the versions of its protocols and where it is reached. Needs no credential.
 *
 * `GET /api/v2/buildinfo`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const buildInfo = (client: Client, options?: CallOptions): Promise<BuildInfoResponse> =>
  call(client, "GET", "/api/v2/buildinfo", json, {}, options)

/**
 * Get entitlements. Returns every licensed feature with whether it is granted and whether it is on.
 *
 * `GET /api/v2/entitlements`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const entitlements = (client: Client, options?: CallOptions): Promise<Entitlements> =>
  call(client, "GET", "/api/v2/entitlements", json, {}, options)

/**
 * Check liveness. Answers `OK` while the process serves requests. Needs no credential.
 *
 * `GET /healthz`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const health = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/healthz", text, {}, options)

/**
 * Get the state of background work. Returns how the background work of the process that answers fares. Requires permission to read debugging information.
 *
 * `GET /healthz/details`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const healthDetails = (client: Client, options?: CallOptions): Promise<HealthDetails> =>
  call(client, "GET", "/healthz/details", json, {}, options)

/**
 * Check readiness. Returns `OK` while the process accepts requests and the store answers, otherwise 503. The text reports a store without room for writes, and the state of each of several processes. Needs no credential.
 *
 * `GET /readyz`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const ready = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/readyz", text, {}, options)

/**
 * Measure latency. Answers `OK` at once, from any origin, so that browsers can measure the latency to the service.
 *
 * `GET /latency-check`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const latencyCheck = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/latency-check", text, {}, options)
