// Generated from the contract by `npm run generate`. Changes here are lost.
/** What the processes of workspace proxies call. */
import type { Client } from "../Client.js"
import { addressOf, call, json, nothing, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { CryptoKeysResponse, DERPMap, Replica, SignedAppRequest } from "./types.js"

export interface RegisterWorkspaceProxyResult {
  readonly derp_mesh_key: string
  readonly derp_region_id: number
  readonly derp_map: DERPMap
  readonly derp_force_websockets: boolean
  readonly sibling_replicas: ReadonlyArray<Replica>
}

export interface RegisterWorkspaceProxyInput {
  readonly body: {
    readonly access_url: string
    readonly wildcard_hostname?: string | undefined
    readonly derp_enabled?: boolean | undefined
    readonly derp_only?: boolean | undefined
    /** A UUID. */
    readonly replica_id?: string | undefined
    readonly hostname?: string | undefined
    readonly replica_error?: string | undefined
    readonly replica_relay_address?: string | undefined
    readonly version?: string | undefined
  }
}

/**
 * Register a workspace proxy. Stores where the proxy and the calling process are reached. Processes repeat it every few seconds.
 *
 * `POST /api/v2/workspaceproxies/me/register`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const registerWorkspaceProxy = (client: Client, input: RegisterWorkspaceProxyInput, options?: CallOptions): Promise<RegisterWorkspaceProxyResult> =>
  call(client, "POST", "/api/v2/workspaceproxies/me/register", json, input, options)

export interface DeregisterWorkspaceProxyInput {
  readonly body: {
    /** A UUID. */
    readonly replica_id?: string | undefined
  }
}

/**
 * Deregister a workspace proxy. Notes that a process of the proxy stops.
 *
 * `POST /api/v2/workspaceproxies/me/deregister`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deregisterWorkspaceProxy = (client: Client, input: DeregisterWorkspaceProxyInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaceproxies/me/deregister", nothing, input, options)

export interface ReportAppStatsInput {
  readonly body: {
    /** At most 10000 items. */
    readonly stats?: ReadonlyArray<{
      /** A UUID. */
      readonly user_id: string
      /** A UUID. */
      readonly workspace_id: string
      /** A UUID. */
      readonly agent_id: string
      readonly access_method: "path" | "subdomain" | "terminal"
      readonly slug_or_port?: string | undefined
      /** A UUID. */
      readonly session_id: string
      /** A time as RFC 3339 writes it. */
      readonly session_started_at: string
      /** A time as RFC 3339 writes it. */
      readonly session_ended_at: string
      readonly requests: number
    }> | undefined
  }
}

/**
 * Report visits of apps. Stores visits of apps and terminals that the proxy has served.
 *
 * `POST /api/v2/workspaceproxies/me/app-stats`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const reportAppStats = (client: Client, input: ReportAppStatsInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaceproxies/me/app-stats", nothing, input, options)

export interface IssueSignedAppTokenResult {
  readonly signed_token_str: string
}

export interface IssueSignedAppTokenInput {
  readonly body: {
    readonly app_request: SignedAppRequest
    readonly path_app_base_url?: string | undefined
    readonly app_hostname?: string | undefined
    readonly app_path?: string | undefined
    readonly app_query?: string | undefined
    readonly session_token?: string | undefined
  }
}

/**
 * Issue a signed token of an app. Returns a token that opens an app or a terminal for a minute, if the user of the given session may open it. Answers the page or the redirection for the user's browser otherwise.
 *
 * `POST /api/v2/workspaceproxies/me/issue-signed-app-token`
 *
 * @throws AtelierError 401 Unauthenticated, 414 UrlTooLong, 431 HeadTooLarge
 */
export const issueSignedAppToken = (client: Client, input: IssueSignedAppTokenInput, options?: CallOptions): Promise<IssueSignedAppTokenResult> =>
  call(client, "POST", "/api/v2/workspaceproxies/me/issue-signed-app-token", json, input, options)

export interface IssueSignedAppTokenAddressInput {
  readonly body: {
    readonly app_request: SignedAppRequest
    readonly path_app_base_url?: string | undefined
    readonly app_hostname?: string | undefined
    readonly app_path?: string | undefined
    readonly app_query?: string | undefined
    readonly session_token?: string | undefined
  }
}

/**
 * Issue a signed token of an app. Returns a token that opens an app or a terminal for a minute, if the user of the given session may open it. Answers the page or the redirection for the user's browser otherwise.
 *
 * Returns the address without a request: a browser is to go there.
 *
 * `POST /api/v2/workspaceproxies/me/issue-signed-app-token`
 *
 * @throws AtelierError 401 Unauthenticated, 414 UrlTooLong, 431 HeadTooLarge
 */
export const issueSignedAppTokenAddress = (client: Client, input: IssueSignedAppTokenAddressInput): string =>
  addressOf(client, "/api/v2/workspaceproxies/me/issue-signed-app-token", input)

export interface ListCryptoKeysInput {
  /** At most 4096 characters. */
  readonly feature?: string | undefined
}

/**
 * List signing keys. Returns the keys that verify what the deployment signs or encrypts for a feature, newest first.
 *
 * `GET /api/v2/workspaceproxies/me/crypto-keys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listCryptoKeys = (client: Client, input: ListCryptoKeysInput = {}, options?: CallOptions): Promise<CryptoKeysResponse> =>
  call(client, "GET", "/api/v2/workspaceproxies/me/crypto-keys", json, input, options)

export interface CoordinateWorkspaceProxyInput {
  /** At most 4096 characters. */
  readonly version?: string | undefined
}

/**
 * Connect a workspace proxy to the network. Upgrades to the WebSocket over which a proxy asks for tunnels.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceproxies/me/coordinate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const coordinateWorkspaceProxy = (client: Client, input: CoordinateWorkspaceProxyInput = {}, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceproxies/me/coordinate", input, options)
