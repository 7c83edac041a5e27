// Generated from the contract by `npm run generate`. Changes here are lost.
/** AI spend of organizations. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { GroupMembersAISpend, OrganizationGroupsAISpend } from "./types.js"

export interface GetGroupsAiSpendInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1000 items. */
  readonly group_ids?: ReadonlyArray<string> | undefined
}

/**
 * Get AI spend by group. Returns the AI spend of an organization's groups in the current period.
 *
 * `GET /api/v2/organizations/{organization}/groups/ai/spend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupsAiSpend = (client: Client, input: GetGroupsAiSpendInput, options?: CallOptions): Promise<OrganizationGroupsAISpend> =>
  call(client, "GET", "/api/v2/organizations/{organization}/groups/ai/spend", json, input, options)

export interface GetGroupMembersAiSpendByNameInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly groupName: string
  /** At most 1000 items. */
  readonly user_ids?: ReadonlyArray<string> | undefined
}

/**
 * Get AI spend by member of a named group. Returns the AI spend of each member of a group, found by its name, in the current period.
 *
 * `GET /api/v2/organizations/{organization}/groups/{groupName}/members/ai/spend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupMembersAiSpendByName = (client: Client, input: GetGroupMembersAiSpendByNameInput, options?: CallOptions): Promise<GroupMembersAISpend> =>
  call(client, "GET", "/api/v2/organizations/{organization}/groups/{groupName}/members/ai/spend", json, input, options)
