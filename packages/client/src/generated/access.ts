// Generated from the contract by `npm run generate`. Changes here are lost.
/** What callers may do. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { AuthorizationCheck, AuthorizationResponse } from "./types.js"

export interface CheckAuthorizationInput {
  readonly body: {
    readonly checks?: Readonly<Record<string, AuthorizationCheck>> | undefined
  }
}

/**
 * Check permissions. Decides for each named check whether the caller may take the action on the object. The answer has one boolean under each name.
 *
 * `POST /api/v2/authcheck`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const checkAuthorization = (client: Client, input: CheckAuthorizationInput, options?: CallOptions): Promise<AuthorizationResponse> =>
  call(client, "POST", "/api/v2/authcheck", json, input, options)
