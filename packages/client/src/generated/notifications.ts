// Generated from the contract by `npm run generate`. Changes here are lost.
/** How the deployment and its users want to be told of events. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { Message, NotificationMethodsResponse, NotificationPreference, NotificationTemplate, NotificationsSettings } from "./types.js"

/**
 * Get notification settings. Returns whether the sending of notifications is paused.
 *
 * `GET /api/v2/notifications/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getNotificationsSettings = (client: Client, options?: CallOptions): Promise<NotificationsSettings> =>
  call(client, "GET", "/api/v2/notifications/settings", json, {}, options)

export interface UpdateNotificationsSettingsInput {
  readonly body: {
    readonly notifier_paused?: boolean | undefined
  }
}

/**
 * Update notification settings. Pauses or resumes the sending of notifications.
 *
 * `PUT /api/v2/notifications/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateNotificationsSettings = (client: Client, input: UpdateNotificationsSettingsInput, options?: CallOptions): Promise<NotificationsSettings> =>
  call(client, "PUT", "/api/v2/notifications/settings", json, input, options)

/**
 * List system notification templates. Returns the events that users are told of, by name.
 *
 * `GET /api/v2/notifications/templates/system`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listSystemNotificationTemplates = (client: Client, options?: CallOptions): Promise<ReadonlyArray<NotificationTemplate>> =>
  call(client, "GET", "/api/v2/notifications/templates/system", json, {}, options)

/**
 * List custom notification templates. Returns the template of the notifications that users write.
 *
 * `GET /api/v2/notifications/templates/custom`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listCustomNotificationTemplates = (client: Client, options?: CallOptions): Promise<ReadonlyArray<NotificationTemplate>> =>
  call(client, "GET", "/api/v2/notifications/templates/custom", json, {}, options)

export interface UpdateNotificationTemplateMethodInput {
  /** A UUID. */
  readonly notification_template: string
  readonly body: {
    readonly method: string
  }
}

/**
 * Choose a notification method. Sets the method that notifications of an event are sent by.
 *
 * `PUT /api/v2/notifications/templates/{notification_template}/method`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateNotificationTemplateMethod = (client: Client, input: UpdateNotificationTemplateMethodInput, options?: CallOptions): Promise<Message> =>
  call(client, "PUT", "/api/v2/notifications/templates/{notification_template}/method", json, input, options)

/**
 * List notification methods. Returns the methods that notifications can be sent by, and the deployment's.
 *
 * `GET /api/v2/notifications/dispatch-methods`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getNotificationDispatchMethods = (client: Client, options?: CallOptions): Promise<readonly [NotificationMethodsResponse, ...ReadonlyArray<NotificationMethodsResponse>]> =>
  call(client, "GET", "/api/v2/notifications/dispatch-methods", json, {}, options)

/**
 * Send a test notification. Sends the caller a notification, to test the deployment's settings.
 *
 * `POST /api/v2/notifications/test`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const sendTestNotification = (client: Client, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/notifications/test", nothing, {}, options)

export interface SendCustomNotificationInput {
  readonly body: {
    readonly content: {
      readonly title?: string | undefined
      readonly message?: string | undefined
    }
  }
}

/**
 * Send a custom notification. Sends the caller a notification with a title of at most 120 bytes and a message of at most 2000.
 *
 * `POST /api/v2/notifications/custom`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const sendCustomNotification = (client: Client, input: SendCustomNotificationInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/notifications/custom", nothing, input, options)

export interface GetNotificationPreferencesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get notification preferences. Returns the events that a user has switched on or off.
 *
 * `GET /api/v2/users/{user}/notifications/preferences`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getNotificationPreferences = (client: Client, input: GetNotificationPreferencesInput, options?: CallOptions): Promise<ReadonlyArray<NotificationPreference>> =>
  call(client, "GET", "/api/v2/users/{user}/notifications/preferences", json, input, options)

export interface UpdateNotificationPreferencesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly template_disabled_map?: Readonly<Record<string, boolean>> | undefined
  }
}

/**
 * Update notification preferences. Switches events on or off for a user. Those not given stay as they are.
 *
 * `PUT /api/v2/users/{user}/notifications/preferences`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateNotificationPreferences = (client: Client, input: UpdateNotificationPreferencesInput, options?: CallOptions): Promise<ReadonlyArray<NotificationPreference>> =>
  call(client, "PUT", "/api/v2/users/{user}/notifications/preferences", json, input, options)
