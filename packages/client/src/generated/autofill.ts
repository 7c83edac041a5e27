// Generated from the contract by `npm run generate`. Changes here are lost.
/** Values that forms for new workspaces start with. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { UserParameter } from "./types.js"

export interface ListAutofillParametersInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** A UUID. */
  readonly template_id: string
}

/**
 * List autofill parameters. Returns the parameter values of a user's latest workspace of a template, which a form for a new one can start with.
 *
 * `GET /api/v2/users/{user}/autofill-parameters`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAutofillParameters = (client: Client, input: ListAutofillParametersInput, options?: CallOptions): Promise<ReadonlyArray<UserParameter>> =>
  call(client, "GET", "/api/v2/users/{user}/autofill-parameters", json, input, options)
