// Generated from the contract by `npm run generate`. Changes here are lost.
/** The private network by which clients reach agents. */
import type { Client } from "../Client.js"
import { call, json, text, type CallOptions } from "../call.js"
import { openSocket, socketValues, type Socket } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { AgentConnectionInfo, DERPMap } from "./types.js"

/**
 * Get connection settings. Returns what a client needs to know before it connects to any agent.
 *
 * `GET /api/v2/workspaceagents/connection`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getConnectionInfo = (client: Client, options?: CallOptions): Promise<AgentConnectionInfo> =>
  call(client, "GET", "/api/v2/workspaceagents/connection", json, {}, options)

export interface GetAgentConnectionInfoInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Get an agent's connection settings. Returns what a client needs to know before it connects to the agent.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/connection`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAgentConnectionInfo = (client: Client, input: GetAgentConnectionInfoInput, options?: CallOptions): Promise<AgentConnectionInfo> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/connection", json, input, options)

/**
 * Watch the relay map. Sends the relays of the deployment over a WebSocket: first the present map, then each change.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/derp-map`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchRelayMap = (client: Client, options?: StreamOptions): AsyncGenerator<DERPMap, void, undefined> =>
  socketValues(client, "/api/v2/derp-map", {}, again, options)

export interface ConnectToNetworkInput {
  /** At most 4096 characters. */
  readonly version?: string | undefined
  /** At most 4096 characters. */
  readonly resume_token?: string | undefined
}

/**
 * Connect to the network. Upgrades to the WebSocket over which a client asks for tunnels to any of its agents.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/tailnet`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const connectToNetwork = (client: Client, input: ConnectToNetworkInput = {}, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/tailnet", input, options)

export interface CoordinateAgentInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly version?: string | undefined
  /** At most 4096 characters. */
  readonly resume_token?: string | undefined
}

/**
 * Connect to an agent. Upgrades to the WebSocket over which a client asks for a tunnel to one agent.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/coordinate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const coordinateAgent = (client: Client, input: CoordinateAgentInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/{workspaceagent}/coordinate", input, options)

/**
 * Show the coordinator. Returns a page with the peers of the private network, their addresses and their tunnels.
 *
 * `GET /api/v2/debug/coordinator`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const showCoordinator = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/coordinator", text, {}, options)

/**
 * Show connected agents. Returns a page with the agents that the answering process reaches through their own connections.
 *
 * `GET /api/v2/debug/tailnet`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const showAgentLinks = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/tailnet", text, {}, options)
