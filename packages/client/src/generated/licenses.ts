// Generated from the contract by `npm run generate`. Changes here are lost.
/** The licenses of the deployment, and the features that they grant. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { License, Message } from "./types.js"

/**
 * List licenses. Returns the stored licenses with their claims, the oldest first.
 *
 * `GET /api/v2/licenses`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listLicenses = (client: Client, options?: CallOptions): Promise<ReadonlyArray<License>> =>
  call(client, "GET", "/api/v2/licenses", json, {}, options)

export interface AddLicenseInput {
  readonly body: {
    readonly license: string
  }
}

/**
 * Add a license. Verifies and stores a license. Its features are granted at once.
 *
 * `POST /api/v2/licenses`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addLicense = (client: Client, input: AddLicenseInput, options?: CallOptions): Promise<License> =>
  call(client, "POST", "/api/v2/licenses", json, input, options)

export interface RequestTrialLicenseInput {
  readonly body: {
    readonly email: string
    readonly first_name: string
    readonly last_name: string
    readonly phone_number: string
    readonly job_title: string
    readonly company_name: string
    readonly country: string
    readonly developers: string
  }
}

/**
 * Ask for a trial license. Stores a license that the host's issuer gives out. A deployment without an issuer answers 404.
 *
 * `POST /api/v2/licenses/trial`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const requestTrialLicense = (client: Client, input: RequestTrialLicenseInput, options?: CallOptions): Promise<License> =>
  call(client, "POST", "/api/v2/licenses/trial", json, input, options)

/**
 * Compute the entitlements. Computes anew what the licenses grant, in all replicas, at most once in a minute.
 *
 * `POST /api/v2/licenses/refresh-entitlements`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const refreshEntitlements = (client: Client, options?: CallOptions): Promise<Message> =>
  call(client, "POST", "/api/v2/licenses/refresh-entitlements", json, {}, options)

export interface DeleteLicenseInput {
  /** At most 1024 characters. */
  readonly id: string
}

/**
 * Delete a license. Deletes a license. The features that only it granted end at once.
 *
 * `DELETE /api/v2/licenses/{id}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteLicense = (client: Client, input: DeleteLicenseInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/licenses/{id}", nothing, input, options)
