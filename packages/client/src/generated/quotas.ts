// Generated from the contract by `npm run generate`. Changes here are lost.
/** Limits on the cost of workspaces. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { WorkspaceQuota } from "./types.js"

export interface GetMemberQuotaInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a member's quota. Returns the daily cost of a user's workspaces in an organization, and its limit.
 *
 * `GET /api/v2/organizations/{organization}/members/{user}/workspace-quota`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getMemberQuota = (client: Client, input: GetMemberQuotaInput, options?: CallOptions): Promise<WorkspaceQuota> =>
  call(client, "GET", "/api/v2/organizations/{organization}/members/{user}/workspace-quota", json, input, options)

export interface GetQuotaInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's quota. Returns the daily cost of a user's workspaces in the default organization, and its limit.
 *
 * `GET /api/v2/workspace-quota/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getQuota = (client: Client, input: GetQuotaInput, options?: CallOptions): Promise<WorkspaceQuota> =>
  call(client, "GET", "/api/v2/workspace-quota/{user}", json, input, options)
