// Generated from the contract by `npm run generate`. Changes here are lost.
/** The deployment's options and experiments, and how agents and SSH clients are set up. */
import type { Client } from "../Client.js"
import { call, json, nothing, text, type CallOptions } from "../call.js"
import type { DeploymentConfig, SSHConfigResponse, UpdateCheckResponse } from "./types.js"

/**
 * Check for updates. Returns the newest release that is known and whether the running version is as new.
 *
 * `GET /api/v2/updatecheck`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const checkForUpdates = (client: Client, options?: CallOptions): Promise<UpdateCheckResponse> =>
  call(client, "GET", "/api/v2/updatecheck", json, {}, options)

export interface ReportCspViolationInput {
  readonly body: {
    readonly "csp-report"?: Readonly<Record<string, unknown>> | null | undefined
  }
}

/**
 * Report a CSP violation. Logs a browser's report of a violated Content-Security-Policy. Needs no credential.
 *
 * `POST /api/v2/csp/reports`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const reportCspViolation = (client: Client, input: ReportCspViolationInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/csp/reports", nothing, input, options)

/**
 * Get the deployment's options. Returns every option with its value and source. The values of secret options are left out.
 *
 * `GET /api/v2/deployment/config`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDeploymentConfig = (client: Client, options?: CallOptions): Promise<DeploymentConfig> =>
  call(client, "GET", "/api/v2/deployment/config", json, {}, options)

/**
 * Get SSH settings. Returns the host names and options that clients write into their SSH configuration.
 *
 * `GET /api/v2/deployment/ssh`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getSshConfig = (client: Client, options?: CallOptions): Promise<SSHConfigResponse> =>
  call(client, "GET", "/api/v2/deployment/ssh", json, {}, options)

export interface ReportFunnelEventInput {
  readonly body: {
    /** A UUID. */
    readonly id: string
    readonly source: "aibridge_session_threads" | "aibridge_sessions" | "ai_gateway_keys" | "ai_governance" | "appearance" | "audit_log" | "browser_only" | "connection_log" | "custom_roles" | "external_auth" | "groups" | "idp_org_sync" | "idp_sync" | "multiple_organizations" | "observability" | "provisioner_keys" | "provisioners" | "template_permissions" | "workspace_proxies" | "direct"
    readonly variant: "premium" | "small" | "ai_governance"
  }
}

/**
 * Report a funnel event. Accepts a click on an offer of a licensed feature and keeps nothing of it.
 *
 * `POST /api/v2/deployment/premium-funnel-events`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const reportFunnelEvent = (client: Client, input: ReportFunnelEventInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/deployment/premium-funnel-events", nothing, input, options)

/**
 * List enabled experiments. Returns the names of the experiments that are on.
 *
 * `GET /api/v2/experiments`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listExperiments = (client: Client, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/experiments", json, {}, options)

/**
 * List safe experiments. Returns the names of the experiments that are safe to switch on.
 *
 * `GET /api/v2/experiments/available`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAvailableExperiments = (client: Client, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/experiments/available", json, {}, options)

export interface GetInitScriptInput {
  /** At most 1024 characters. */
  readonly os: string
  /** At most 1024 characters. */
  readonly arch: string
}

/**
 * Get an agent's start script. Returns a script that downloads and runs the agent: a POSIX shell script, or a PowerShell script for `windows`.
 *
 * `GET /api/v2/init-script/{os}/{arch}`
 *
 * @throws AtelierError 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getInitScript = (client: Client, input: GetInitScriptInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/init-script/{os}/{arch}", text, input, options)

export interface GetAgentProgramInput {
  /** At most 1024 characters. */
  readonly name: string
}

/**
 * Download the agent. Returns the agent's program, which Node.js runs. Needs no credential.
 *
 * `GET /bin/{name}`
 *
 * @throws AtelierError 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAgentProgram = (client: Client, input: GetAgentProgramInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/bin/{name}", text, input, options)
