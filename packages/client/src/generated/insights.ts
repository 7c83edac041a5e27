// Generated from the contract by `npm run generate`. Changes here are lost.
/** How the deployment is used. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { DAUsResponse, DeploymentStats, GetUserStatusCountsResponse, InsightsReportInterval, TemplateInsightsResponse, UserActivityInsightsResponse, UserLatencyInsightsResponse } from "./types.js"

export interface GetTemplateInsightsInput {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  /** At most 100 items. */
  readonly template_ids?: ReadonlyArray<string> | undefined
  readonly interval?: InsightsReportInterval | "" | undefined
  /** At most 1000 items. */
  readonly sections?: ReadonlyArray<"interval_reports" | "report"> | undefined
}

/**
 * Get insights of templates. Returns active users, use of applications and parameters of templates, by step and on the whole.
 *
 * `GET /api/v2/insights/templates`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateInsights = (client: Client, input: GetTemplateInsightsInput, options?: CallOptions): Promise<TemplateInsightsResponse> =>
  call(client, "GET", "/api/v2/insights/templates", json, input, options)

export interface GetUserActivityInput {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  /** At most 100 items. */
  readonly template_ids?: ReadonlyArray<string> | undefined
}

/**
 * Get users' activity. Returns the seconds that each user worked in workspaces of templates.
 *
 * `GET /api/v2/insights/user-activity`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserActivity = (client: Client, input: GetUserActivityInput, options?: CallOptions): Promise<UserActivityInsightsResponse> =>
  call(client, "GET", "/api/v2/insights/user-activity", json, input, options)

export interface GetUserLatencyInput {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  /** At most 100 items. */
  readonly template_ids?: ReadonlyArray<string> | undefined
}

/**
 * Get users' latency. Returns the latency of each user's connections to workspaces of templates.
 *
 * `GET /api/v2/insights/user-latency`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserLatency = (client: Client, input: GetUserLatencyInput, options?: CallOptions): Promise<UserLatencyInsightsResponse> =>
  call(client, "GET", "/api/v2/insights/user-latency", json, input, options)

export interface GetDausInput {
  /** From -12 to 14. */
  readonly tz_offset?: number | undefined
}

/**
 * Get daily active users. Returns the number of active users on each of the last 60 days and today.
 *
 * `GET /api/v2/insights/daus`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDaus = (client: Client, input: GetDausInput = {}, options?: CallOptions): Promise<DAUsResponse> =>
  call(client, "GET", "/api/v2/insights/daus", json, input, options)

export interface GetTemplateDausInput {
  /** A UUID. */
  readonly template: string
  /** From -12 to 14. */
  readonly tz_offset?: number | undefined
}

/**
 * Get a template's daily active users. Returns the number of the template's active users on each of the last 60 days and today.
 *
 * `GET /api/v2/templates/{template}/daus`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateDaus = (client: Client, input: GetTemplateDausInput, options?: CallOptions): Promise<DAUsResponse> =>
  call(client, "GET", "/api/v2/templates/{template}/daus", json, input, options)

export interface GetUserStatusCountsInput {
  /** At most 4096 characters. */
  readonly timezone?: string | undefined
  /** From -12 to 14. */
  readonly tz_offset?: number | undefined
  readonly interval?: number | undefined
}

/**
 * Count users by status. Returns the number of users of each status at each of the last 61 midnights of a time zone.
 *
 * `GET /api/v2/insights/user-status-counts`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserStatusCounts = (client: Client, input: GetUserStatusCountsInput = {}, options?: CallOptions): Promise<GetUserStatusCountsResponse> =>
  call(client, "GET", "/api/v2/insights/user-status-counts", json, input, options)

/**
 * Get statistics of the deployment. Returns traffic, latency and sessions of the last 15 minutes, and workspaces by state.
 *
 * `GET /api/v2/deployment/stats`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDeploymentStats = (client: Client, options?: CallOptions): Promise<DeploymentStats> =>
  call(client, "GET", "/api/v2/deployment/stats", json, {}, options)
