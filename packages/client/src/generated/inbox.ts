// Generated from the contract by `npm run generate`. Changes here are lost.
/** The caller's notifications. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import { socketValues } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { GetInboxNotificationResponse, ListInboxNotificationsResponse, ReadNotification } from "./types.js"

export interface ListInboxNotificationsInput {
  /** At most 1000 items. */
  readonly targets?: ReadonlyArray<string> | undefined
  /** At most 1000 items. */
  readonly templates?: ReadonlyArray<string> | undefined
  readonly read_status?: "" | "all" | "read" | "unread" | undefined
  /** A UUID. */
  readonly starting_before?: string | undefined
}

/**
 * List notifications. Returns a page of the caller's notifications, the newest first, and the number of all unread ones. `starting_before` continues behind a notification.
 *
 * `GET /api/v2/notifications/inbox`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listInboxNotifications = (client: Client, input: ListInboxNotificationsInput = {}, options?: CallOptions): Promise<ListInboxNotificationsResponse> =>
  call(client, "GET", "/api/v2/notifications/inbox", json, input, options)

export interface WatchInboxNotificationsInput {
  /** At most 1000 items. */
  readonly targets?: ReadonlyArray<string> | undefined
  /** At most 1000 items. */
  readonly templates?: ReadonlyArray<string> | undefined
  readonly read_status?: "" | "all" | "read" | "unread" | undefined
  /** At most 4096 characters. */
  readonly format?: string | undefined
}

/**
 * Watch notifications. Sends the caller's new notifications over a WebSocket. `format` is `markdown` or `plaintext`.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/notifications/inbox/watch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchInboxNotifications = (client: Client, input: WatchInboxNotificationsInput = {}, options?: StreamOptions): AsyncGenerator<GetInboxNotificationResponse, void, undefined> =>
  socketValues(client, "/api/v2/notifications/inbox/watch", input, again, options)

export interface UpdateInboxNotificationReadStatusInput {
  /** A UUID. */
  readonly id: string
  readonly body: {
    readonly is_read?: boolean | undefined
  }
}

/**
 * Set a notification's read status. Marks a notification as read, or as unread.
 *
 * `PUT /api/v2/notifications/inbox/{id}/read-status`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateInboxNotificationReadStatus = (client: Client, input: UpdateInboxNotificationReadStatusInput, options?: CallOptions): Promise<ReadNotification> =>
  call(client, "PUT", "/api/v2/notifications/inbox/{id}/read-status", json, input, options)

/**
 * Mark all notifications as read. Marks all of the caller's unread notifications as read.
 *
 * `PUT /api/v2/notifications/inbox/mark-all-as-read`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const markAllInboxNotificationsAsRead = (client: Client, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/notifications/inbox/mark-all-as-read", nothing, {}, options)
