// Generated from the contract by `npm run generate`. Changes here are lost.
/** Operations for agents about themselves. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import { serverSentEvents } from "../events.js"
import { openSocket, type Socket } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { AgentGitSSHKey, ExternalAuthResponse, Message, ReinitializationEvent, WorkspaceAgentLogSource } from "./types.js"

export interface AddAgentLogSourceInput {
  readonly body: {
    /** A UUID. */
    readonly id: string
    readonly display_name?: string | undefined
    readonly icon?: string | undefined
  }
}

/**
 * Add a log source. Names a source of the calling agent's logs.
 *
 * `POST /api/v2/workspaceagents/me/log-source`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addAgentLogSource = (client: Client, input: AddAgentLogSourceInput, options?: CallOptions): Promise<WorkspaceAgentLogSource> =>
  call(client, "POST", "/api/v2/workspaceagents/me/log-source", json, input, options)

export interface AddAgentLogsInput {
  readonly body: {
    /** A UUID. */
    readonly log_source_id?: string | undefined
    /** At most 2000 items. */
    readonly logs?: ReadonlyArray<{
      readonly level?: string | undefined
      readonly output?: string | undefined
    }> | undefined
  }
}

/**
 * Add log lines. Stores log lines of the calling agent.
 *
 * `PATCH /api/v2/workspaceagents/me/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addAgentLogs = (client: Client, input: AddAgentLogsInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/workspaceagents/me/logs", json, input, options)

export interface SetAgentAppStatusInput {
  readonly body: {
    readonly app_slug?: string | undefined
    readonly state?: string | undefined
    readonly message?: string | undefined
    readonly uri?: string | undefined
    readonly icon?: string | undefined
    readonly needs_user_attention?: boolean | undefined
  }
}

/**
 * Report an app's status. Stores the status of an app of the calling agent.
 *
 * `PATCH /api/v2/workspaceagents/me/app-status`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setAgentAppStatus = (client: Client, input: SetAgentAppStatusInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/workspaceagents/me/app-status", json, input, options)

/**
 * Get the owner's git SSH key. Returns both halves of the workspace owner's key for git to the calling agent.
 *
 * `GET /api/v2/workspaceagents/me/gitsshkey`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAgentGitSshKey = (client: Client, options?: CallOptions): Promise<AgentGitSSHKey> =>
  call(client, "GET", "/api/v2/workspaceagents/me/gitsshkey", json, {}, options)

export interface GetAgentExternalAuthInput {
  /** At most 4096 characters. */
  readonly match?: string | undefined
  /** At most 4096 characters. */
  readonly url?: string | undefined
  /** At most 4096 characters. */
  readonly id?: string | undefined
  /** At most 4096 characters. */
  readonly listen?: string | undefined
}

/**
 * Get a token of an external provider. Returns the token of the workspace's owner at a provider, or the address where the owner signs in. With `listen`, waits for the token.
 *
 * `GET /api/v2/workspaceagents/me/external-auth`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const getAgentExternalAuth = (client: Client, input: GetAgentExternalAuthInput = {}, options?: CallOptions): Promise<ExternalAuthResponse> =>
  call(client, "GET", "/api/v2/workspaceagents/me/external-auth", json, input, options)

export interface GetAgentGitAuthInput {
  /** At most 4096 characters. */
  readonly match?: string | undefined
  /** At most 4096 characters. */
  readonly url?: string | undefined
  /** At most 4096 characters. */
  readonly id?: string | undefined
  /** At most 4096 characters. */
  readonly listen?: string | undefined
}

/**
 * Get a token of a git host. Returns the same token as external authentication does. Kept for older clients.
 *
 * `GET /api/v2/workspaceagents/me/gitauth`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const getAgentGitAuth = (client: Client, input: GetAgentGitAuthInput = {}, options?: CallOptions): Promise<ExternalAuthResponse> =>
  call(client, "GET", "/api/v2/workspaceagents/me/gitauth", json, input, options)

export interface GetAgentReinitializationInput {
  readonly wait?: boolean | undefined
}

/**
 * Get an agent's reinitialization. Tells the agent of a prebuilt workspace by a server-sent event that the workspace has an owner.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaceagents/me/reinit`
 *
 * @throws AtelierError 401 Unauthenticated, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAgentReinitialization = (client: Client, input: GetAgentReinitializationInput = {}, options?: StreamOptions): AsyncGenerator<ReinitializationEvent, void, undefined> =>
  serverSentEvents(client, "/api/v2/workspaceagents/me/reinit", input, again, options)

export interface ConnectAgentInput {
  /** At most 4096 characters. */
  readonly version?: string | undefined
  /** At most 4096 characters. */
  readonly role?: string | undefined
}

/**
 * Connect an agent. Upgrades to the WebSocket over which an agent and the service call each other.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/me/rpc`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const connectAgent = (client: Client, input: ConnectAgentInput = {}, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/me/rpc", input, options)
