// Generated from the contract by `npm run generate`. Changes here are lost.
/** Prebuilt workspaces. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { InvalidatePresetsResponse, PrebuildsSettings } from "./types.js"

/**
 * Get prebuild settings. Returns whether the upkeep of prebuilt workspaces is paused.
 *
 * `GET /api/v2/prebuilds/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getPrebuildsSettings = (client: Client, options?: CallOptions): Promise<PrebuildsSettings> =>
  call(client, "GET", "/api/v2/prebuilds/settings", json, {}, options)

export interface UpdatePrebuildsSettingsInput {
  readonly body: {
    readonly reconciliation_paused?: boolean | undefined
  }
}

/**
 * Update prebuild settings. Pauses or resumes the upkeep of prebuilt workspaces.
 *
 * `PUT /api/v2/prebuilds/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updatePrebuildsSettings = (client: Client, input: UpdatePrebuildsSettingsInput, options?: CallOptions): Promise<PrebuildsSettings> =>
  call(client, "PUT", "/api/v2/prebuilds/settings", json, input, options)

export interface InvalidatePresetsInput {
  /** A UUID. */
  readonly template: string
}

/**
 * Invalidate presets. Has the prebuilt workspaces of a template's active version replaced, and returns its presets.
 *
 * `POST /api/v2/templates/{template}/prebuilds/invalidate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const invalidatePresets = (client: Client, input: InvalidatePresetsInput, options?: CallOptions): Promise<InvalidatePresetsResponse> =>
  call(client, "POST", "/api/v2/templates/{template}/prebuilds/invalidate", json, input, options)
