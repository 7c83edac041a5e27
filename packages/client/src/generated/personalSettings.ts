// Generated from the contract by `npm run generate`. Changes here are lost.
/** Personal settings of users. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { UserAppearanceSettings, UserPreferenceSettings } from "./types.js"

export interface GetAppearanceInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get appearance settings. Returns the theme and font that a user has chosen.
 *
 * `GET /api/v2/users/{user}/appearance`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAppearance = (client: Client, input: GetAppearanceInput, options?: CallOptions): Promise<UserAppearanceSettings> =>
  call(client, "GET", "/api/v2/users/{user}/appearance", json, input, options)

export interface UpdateAppearanceInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly theme_preference: string
    readonly theme_mode?: string | undefined
    readonly theme_light?: string | undefined
    readonly theme_dark?: string | undefined
    readonly terminal_font: string
  }
}

/**
 * Update appearance settings. Sets a user's theme and terminal font.
 *
 * `PUT /api/v2/users/{user}/appearance`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateAppearance = (client: Client, input: UpdateAppearanceInput, options?: CallOptions): Promise<UserAppearanceSettings> =>
  call(client, "PUT", "/api/v2/users/{user}/appearance", json, input, options)

export interface GetPreferencesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get preferences. Returns a user's preferences.
 *
 * `GET /api/v2/users/{user}/preferences`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getPreferences = (client: Client, input: GetPreferencesInput, options?: CallOptions): Promise<UserPreferenceSettings> =>
  call(client, "GET", "/api/v2/users/{user}/preferences", json, input, options)

export interface UpdatePreferencesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly task_notification_alert_dismissed?: boolean | undefined
    readonly thinking_display_mode?: string | undefined
    readonly shell_tool_display_mode?: string | undefined
    readonly code_diff_display_mode?: string | undefined
    readonly agent_chat_send_shortcut?: string | undefined
  }
}

/**
 * Update preferences. Changes the given preferences of a user and keeps the others.
 *
 * `PUT /api/v2/users/{user}/preferences`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updatePreferences = (client: Client, input: UpdatePreferencesInput, options?: CallOptions): Promise<UserPreferenceSettings> =>
  call(client, "PUT", "/api/v2/users/{user}/preferences", json, input, options)
