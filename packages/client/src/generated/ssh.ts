// Generated from the contract by `npm run generate`. Changes here are lost.
/** SSH into workspaces. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { WorkspaceHostKey } from "./types.js"

export interface OpenSshInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly client?: "ssh" | "vscode" | "jetbrains" | undefined
}

/**
 * Connect to SSH. Upgrades to a WebSocket whose binary messages carry the bytes of an SSH connection to an agent's own server. That server asks for no password or key, since this request was authorized.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/ssh`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const openSsh = (client: Client, input: OpenSshInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/{workspaceagent}/ssh", input, options)

export interface GetSshHostKeyInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Get the SSH host key. Returns the public key by which SSH clients know the agent's workspace. It stays the same for the workspace's life, and the agent need not be connected.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/ssh-host-key`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getSshHostKey = (client: Client, input: GetSshHostKeyInput, options?: CallOptions): Promise<WorkspaceHostKey> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/ssh-host-key", json, input, options)
