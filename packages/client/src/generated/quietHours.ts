// Generated from the contract by `npm run generate`. Changes here are lost.
/** Hours in which workspaces may be stopped for maintenance. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { UserQuietHoursScheduleResponse } from "./types.js"

export interface GetQuietHoursInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get quiet hours. Returns the hours at which a user's workspaces may be stopped for maintenance.
 *
 * `GET /api/v2/users/{user}/quiet-hours`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getQuietHours = (client: Client, input: GetQuietHoursInput, options?: CallOptions): Promise<readonly [UserQuietHoursScheduleResponse, ...ReadonlyArray<UserQuietHoursScheduleResponse>]> =>
  call(client, "GET", "/api/v2/users/{user}/quiet-hours", json, input, options)

export interface UpdateQuietHoursInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly schedule: string
  }
}

/**
 * Set quiet hours. Sets when a user's quiet hours begin, as a cron expression of one time a day.
 *
 * `PUT /api/v2/users/{user}/quiet-hours`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateQuietHours = (client: Client, input: UpdateQuietHoursInput, options?: CallOptions): Promise<readonly [UserQuietHoursScheduleResponse, ...ReadonlyArray<UserQuietHoursScheduleResponse>]> =>
  call(client, "PUT", "/api/v2/users/{user}/quiet-hours", json, input, options)
