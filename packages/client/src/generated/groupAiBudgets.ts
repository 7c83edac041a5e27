// Generated from the contract by `npm run generate`. Changes here are lost.
/** AI budgets and spend of groups. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { GroupAIBudget, GroupAISpend, GroupMembersAISpend } from "./types.js"

export interface GetGroupAiBudgetInput {
  /** A UUID. */
  readonly group: string
}

/**
 * Get a group's AI budget. Returns the AI budget of each member of a group for a period, in millionths of a US dollar.
 *
 * `GET /api/v2/groups/{group}/ai/budget`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupAiBudget = (client: Client, input: GetGroupAiBudgetInput, options?: CallOptions): Promise<GroupAIBudget> =>
  call(client, "GET", "/api/v2/groups/{group}/ai/budget", json, input, options)

export interface SetGroupAiBudgetInput {
  /** A UUID. */
  readonly group: string
  readonly body: {
    /** Millionths of a unit of the currency. */
    readonly spend_limit_micros?: number | undefined
  }
}

/**
 * Set a group's AI budget. Sets the AI budget of each member of a group for a period.
 *
 * `PUT /api/v2/groups/{group}/ai/budget`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setGroupAiBudget = (client: Client, input: SetGroupAiBudgetInput, options?: CallOptions): Promise<GroupAIBudget> =>
  call(client, "PUT", "/api/v2/groups/{group}/ai/budget", json, input, options)

export interface DeleteGroupAiBudgetInput {
  /** A UUID. */
  readonly group: string
}

/**
 * Delete a group's AI budget. Removes a group's bound on AI spend.
 *
 * `DELETE /api/v2/groups/{group}/ai/budget`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteGroupAiBudget = (client: Client, input: DeleteGroupAiBudgetInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/groups/{group}/ai/budget", nothing, input, options)

export interface GetGroupAiSpendInput {
  /** A UUID. */
  readonly group: string
}

/**
 * Get a group's AI spend. Returns the AI spend of a group in the current period, with its budget.
 *
 * `GET /api/v2/groups/{group}/ai/spend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupAiSpend = (client: Client, input: GetGroupAiSpendInput, options?: CallOptions): Promise<GroupAISpend> =>
  call(client, "GET", "/api/v2/groups/{group}/ai/spend", json, input, options)

export interface GetGroupMembersAiSpendInput {
  /** A UUID. */
  readonly group: string
  /** At most 1000 items. */
  readonly user_ids?: ReadonlyArray<string> | undefined
}

/**
 * Get AI spend by member. Returns the AI spend of each member of a group in the current period.
 *
 * `GET /api/v2/groups/{group}/members/ai/spend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupMembersAiSpend = (client: Client, input: GetGroupMembersAiSpendInput, options?: CallOptions): Promise<GroupMembersAISpend> =>
  call(client, "GET", "/api/v2/groups/{group}/members/ai/spend", json, input, options)
