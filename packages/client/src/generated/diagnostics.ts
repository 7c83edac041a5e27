// Generated from the contract by `npm run generate`. Changes here are lost.
/** The metrics and the health of the deployment, for its operators. */
import type { Client } from "../Client.js"
import { addressOf, bytes, call, json, text, type CallOptions } from "../call.js"
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

/**
 * Get process variables. Returns the memory and the times of the answering process.
 *
 * `GET /api/v2/debug/expvar`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getProcessVariables = (client: Client, options?: CallOptions): Promise<Readonly<Record<string, unknown>>> =>
  call(client, "GET", "/api/v2/debug/expvar", json, {}, options)

/**
 * List profiles. Shows a page that links to the profiles of the answering process.
 *
 * `GET /api/v2/debug/pprof`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProfiles = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/pprof", text, {}, options)

/**
 * List profiles. Shows a page that links to the profiles of the answering process.
 *
 * Returns the address without a request: a browser is to go there.
 *
 * `GET /api/v2/debug/pprof`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProfilesAddress = (client: Client): string =>
  addressOf(client, "/api/v2/debug/pprof", {})

/**
 * Get the command line. Returns the name of the program. Its arguments are left out, because they may be secret.
 *
 * `GET /api/v2/debug/pprof/cmdline`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getCommandLine = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/pprof/cmdline", text, {}, options)

/**
 * Get symbols. Says that no symbols can be asked for: the profiles hold the names of functions.
 *
 * `GET /api/v2/debug/pprof/symbol`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getSymbols = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/pprof/symbol", text, {}, options)

export interface TakeCpuProfileInput {
  /** At most 4096 characters. */
  readonly seconds?: string | undefined
}

/**
 * Profile the processor. Profiles the answering process for `seconds`, 30 unless given and at most 60, in the format of pprof.
 *
 * `GET /api/v2/debug/pprof/profile`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const takeCpuProfile = (client: Client, input: TakeCpuProfileInput = {}, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/debug/pprof/profile", bytes, input, options)

export interface TakeHeapProfileInput {
  /** At most 4096 characters. */
  readonly seconds?: string | undefined
}

/**
 * Profile the memory. Returns which calls of the next `seconds`, 5 unless given and at most 60, allocate memory that stays, in the format of pprof.
 *
 * `GET /api/v2/debug/pprof/heap`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const takeHeapProfile = (client: Client, input: TakeHeapProfileInput = {}, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/debug/pprof/heap", bytes, input, options)

export interface CollectProfilesInput {
  /** At most 4096 characters. */
  readonly duration?: string | undefined
  /** At most 4096 characters. */
  readonly profiles?: string | undefined
}

/**
 * Collect profiles. Takes several profiles at once, and returns them in a tar archive. `duration` is 30 s unless given and at most a minute, `profiles` a list of `cpu` and `heap`.
 *
 * `POST /api/v2/debug/profile`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const collectProfiles = (client: Client, input: CollectProfilesInput = {}, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "POST", "/api/v2/debug/profile", bytes, input, options)
