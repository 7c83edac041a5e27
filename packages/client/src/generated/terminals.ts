// Generated from the contract by `npm run generate`. Changes here are lost.
/** Terminals and ports of workspaces. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { IssueReconnectingPTYSignedTokenResponse } from "./types.js"

export interface OpenTerminalInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly reconnect?: string | undefined
  /** At most 4096 characters. */
  readonly height?: string | undefined
  /** At most 4096 characters. */
  readonly width?: string | undefined
  /** At most 4096 characters. */
  readonly command?: string | undefined
  /** At most 4096 characters. */
  readonly container?: string | undefined
  /** At most 4096 characters. */
  readonly container_user?: string | undefined
  /** At most 4096 characters. */
  readonly backend_type?: string | undefined
}

/**
 * Open a terminal. Upgrades to a WebSocket of binary messages: typed text and sizes as JSON objects to the terminal, and its output back. The same `reconnect` leads to the same terminal.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/pty`
 *
 * @throws AtelierError 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const openTerminal = (client: Client, input: OpenTerminalInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/{workspaceagent}/pty", input, options)

export interface ConnectPortInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly port: number
}

/**
 * Connect to a port. Upgrades to a WebSocket whose binary messages carry the bytes of a TCP connection to a port beside an agent.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/tcp`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const connectPort = (client: Client, input: ConnectPortInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/{workspaceagent}/tcp", input, options)

export interface IssueTerminalTokenInput {
  readonly body: {
    readonly url: string
    /** A UUID. */
    readonly agentID: string
  }
}

/**
 * Issue a token for a terminal. Returns a token that opens an agent's terminal at a workspace proxy, as a query parameter, for a minute.
 *
 * `POST /api/v2/applications/reconnecting-pty-signed-token`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const issueTerminalToken = (client: Client, input: IssueTerminalTokenInput, options?: CallOptions): Promise<IssueReconnectingPTYSignedTokenResponse> =>
  call(client, "POST", "/api/v2/applications/reconnecting-pty-signed-token", json, input, options)
