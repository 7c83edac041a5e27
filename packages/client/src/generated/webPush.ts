// Generated from the contract by `npm run generate`. Changes here are lost.
/** Messages to users' browsers. */
import type { Client } from "../Client.js"
import { call, nothing, type CallOptions } from "../call.js"

export interface CreateWebpushSubscriptionInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly endpoint: string
    readonly p256dh_key: string
    readonly auth_key: string
  }
}

/**
 * Subscribe a browser. Subscribes a browser of a user to push messages, after a test message. A subscription with the same endpoint gets the new keys.
 *
 * `POST /api/v2/users/{user}/webpush/subscription`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const createWebpushSubscription = (client: Client, input: CreateWebpushSubscriptionInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/users/{user}/webpush/subscription", nothing, input, options)

export interface DeleteWebpushSubscriptionInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly endpoint?: string | undefined
  }
}

/**
 * Unsubscribe a browser. Ends the subscription of a user's browser.
 *
 * `DELETE /api/v2/users/{user}/webpush/subscription`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteWebpushSubscription = (client: Client, input: DeleteWebpushSubscriptionInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}/webpush/subscription", nothing, input, options)

export interface SendTestPushInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Send a test push message. Pushes a message that says it is a test to all browsers of a user.
 *
 * `POST /api/v2/users/{user}/webpush/test`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const sendTestPush = (client: Client, input: SendTestPushInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/users/{user}/webpush/test", nothing, input, options)
