// Generated from the contract by `npm run generate`. Changes here are lost.
/** The metrics and the health of the deployment, for its operators. */
import type { Client } from "../Client.js"
import { call, json, text, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { HealthSection, HealthSettings, HealthcheckReport } from "./types.js"

/**
 * Get metrics. Returns the metrics of the answering process and of the deployment, in the text format of Prometheus.
 *
 * `GET /api/v2/debug/metrics`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getMetrics = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/metrics", text, {}, options)

export interface GetHealthInput {
  /** At most 4096 characters. */
  readonly force?: string | undefined
  /** At most 4096 characters. */
  readonly format?: string | undefined
}

/**
 * Get the health report. Returns what the answering process finds out about the deployment. A report is kept for some minutes; `force=true` asks for a new one. `format` is `json` or `text`.
 *
 * `GET /api/v2/debug/health`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getHealth = (client: Client, input: GetHealthInput = {}, options?: CallOptions): Promise<HealthcheckReport> =>
  call(client, "GET", "/api/v2/debug/health", json, input, options)

/**
 * Get the health settings. Returns the checks whose findings operators have dismissed.
 *
 * `GET /api/v2/debug/health/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getHealthSettings = (client: Client, options?: CallOptions): Promise<HealthSettings> =>
  call(client, "GET", "/api/v2/debug/health/settings", json, {}, options)

export interface UpdateHealthSettingsInput {
  readonly body: {
    /** At most 100 items. */
    readonly dismissed_healthchecks?: ReadonlyArray<HealthSection> | undefined
  }
}

/**
 * Change the health settings. Replaces the dismissed checks. Answers 204 if they are those that are stored.
 *
 * `PUT /api/v2/debug/health/settings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateHealthSettings = (client: Client, input: UpdateHealthSettingsInput, options?: CallOptions): Promise<HealthSettings | undefined> =>
  call(client, "PUT", "/api/v2/debug/health/settings", json, input, options)

/**
 * Test a WebSocket. Upgrades to a WebSocket that returns every message, with which the health report tests the way to it.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/debug/ws`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const echoWebSocket = (client: Client, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/debug/ws", {}, options)
