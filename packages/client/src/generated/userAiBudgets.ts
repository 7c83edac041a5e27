// Generated from the contract by `npm run generate`. Changes here are lost.
/** AI budgets and spend of users. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { UserAIBudgetOverride, UserAISpendStatus } from "./types.js"

export interface GetAiBudgetOverrideInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's AI budget override. Returns the bound that replaces the budgets of a user's groups.
 *
 * `GET /api/v2/users/{user}/ai/budget/override`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAiBudgetOverride = (client: Client, input: GetAiBudgetOverrideInput, options?: CallOptions): Promise<UserAIBudgetOverride> =>
  call(client, "GET", "/api/v2/users/{user}/ai/budget/override", json, input, options)

export interface SetAiBudgetOverrideInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    /** A UUID. */
    readonly group_id: string
    /** Millionths of a unit of the currency. */
    readonly spend_limit_micros?: number | undefined
  }
}

/**
 * Set a user's AI budget override. Gives a user a bound of its own, and names the group that its spend is booked on.
 *
 * `PUT /api/v2/users/{user}/ai/budget/override`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setAiBudgetOverride = (client: Client, input: SetAiBudgetOverrideInput, options?: CallOptions): Promise<UserAIBudgetOverride> =>
  call(client, "PUT", "/api/v2/users/{user}/ai/budget/override", json, input, options)

export interface DeleteAiBudgetOverrideInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Delete a user's AI budget override. Removes a user's own bound, so that the budgets of its groups apply again.
 *
 * `DELETE /api/v2/users/{user}/ai/budget/override`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteAiBudgetOverride = (client: Client, input: DeleteAiBudgetOverrideInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}/ai/budget/override", nothing, input, options)

export interface GetUserAiSpendInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's AI spend. Returns the AI spend of a user in the current period, with the budget in force.
 *
 * `GET /api/v2/users/{user}/ai/spend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserAiSpend = (client: Client, input: GetUserAiSpendInput, options?: CallOptions): Promise<UserAISpendStatus> =>
  call(client, "GET", "/api/v2/users/{user}/ai/spend", json, input, options)
