// Generated from the contract by `npm run generate`. Changes here are lost.
/** Agents as readers of their workspaces see them. */
import type { Client } from "../Client.js"
import { call, json, nothing, text, type CallOptions } from "../call.js"
import { serverSentEvents } from "../events.js"
import { socketEvents, socketValues } from "../sockets.js"
import { again, behind, type StreamOptions } from "../stream.js"
import type { Message, WorkspaceAgent, WorkspaceAgentListContainersResponse, WorkspaceAgentListeningPortsResponse, WorkspaceAgentLog, WorkspaceAgentMetadata } from "./types.js"

export interface GetAgentInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Get an agent. Returns a workspace's agent with its apps, scripts and log sources.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAgent = (client: Client, input: GetAgentInput, options?: CallOptions): Promise<WorkspaceAgent> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}", json, input, options)

export interface GetAgentLogsInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's logs. Returns an agent's log lines as JSON or text, or sends them over a WebSocket as they are written.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getAgentLogs = (client: Client, input: GetAgentLogsInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceAgentLog>> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/logs", json, input, options)

export interface GetAgentLogsTextInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's logs. Returns an agent's log lines as JSON or text, or sends them over a WebSocket as they are written.
 *
 * Returns lines of text.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getAgentLogsText = (client: Client, input: GetAgentLogsTextInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/logs", text, { ...input, format: "text" }, options)

export interface FollowAgentLogsInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's logs. Returns an agent's log lines as JSON or text, or sends them over a WebSocket as they are written.
 *
 * Reconnects after an interruption and goes on behind the last value.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const followAgentLogs = (client: Client, input: FollowAgentLogsInput, options?: StreamOptions): AsyncGenerator<ReadonlyArray<WorkspaceAgentLog>, void, undefined> =>
  socketValues(client, "/api/v2/workspaceagents/{workspaceagent}/logs", { ...input, follow: "" }, behind, options)

export interface GetAgentStartupLogsInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's start-up logs. Returns the same lines as the agent's logs. Kept for older clients.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/startup-logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getAgentStartupLogs = (client: Client, input: GetAgentStartupLogsInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceAgentLog>> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/startup-logs", json, input, options)

export interface GetAgentStartupLogsTextInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's start-up logs. Returns the same lines as the agent's logs. Kept for older clients.
 *
 * Returns lines of text.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/startup-logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getAgentStartupLogsText = (client: Client, input: GetAgentStartupLogsTextInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/startup-logs", text, { ...input, format: "text" }, options)

export interface FollowAgentStartupLogsInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an agent's start-up logs. Returns the same lines as the agent's logs. Kept for older clients.
 *
 * Reconnects after an interruption and goes on behind the last value.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/startup-logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const followAgentStartupLogs = (client: Client, input: FollowAgentStartupLogsInput, options?: StreamOptions): AsyncGenerator<ReadonlyArray<WorkspaceAgentLog>, void, undefined> =>
  socketValues(client, "/api/v2/workspaceagents/{workspaceagent}/startup-logs", { ...input, follow: "" }, behind, options)

export interface WatchAgentMetadataInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Watch an agent's metadata. Sends an agent's metadata as server-sent events: first all of it, then what changes.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/watch-metadata`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const watchAgentMetadata = (client: Client, input: WatchAgentMetadataInput, options?: StreamOptions): AsyncGenerator<ReadonlyArray<WorkspaceAgentMetadata>, void, undefined> =>
  serverSentEvents(client, "/api/v2/workspaceagents/{workspaceagent}/watch-metadata", input, again, options)

export interface WatchAgentMetadataSocketInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Watch an agent's metadata over a WebSocket. Sends an agent's metadata as messages: first all of it, then what changes.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/watch-metadata-ws`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchAgentMetadataSocket = (client: Client, input: WatchAgentMetadataSocketInput, options?: StreamOptions): AsyncGenerator<ReadonlyArray<WorkspaceAgentMetadata>, void, undefined> =>
  socketEvents(client, "/api/v2/workspaceagents/{workspaceagent}/watch-metadata-ws", input, again, options)

export interface ListListeningPortsInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * List listening ports. Returns the TCP ports on which programs beside an agent listen, but those of its apps.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/listening-ports`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const listListeningPorts = (client: Client, input: ListListeningPortsInput, options?: CallOptions): Promise<WorkspaceAgentListeningPortsResponse> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/listening-ports", json, input, options)

export interface ListContainersInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly label?: ReadonlyArray<string> | string | undefined
}

/**
 * List containers. Returns the containers beside an agent that have all of the labels.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/containers`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const listContainers = (client: Client, input: ListContainersInput, options?: CallOptions): Promise<WorkspaceAgentListContainersResponse> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/containers", json, input, options)

export interface WatchContainersInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * Watch containers. Sends the containers beside an agent over a WebSocket: now, and after each change.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/containers/watch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const watchContainers = (client: Client, input: WatchContainersInput, options?: StreamOptions): AsyncGenerator<WorkspaceAgentListContainersResponse, void, undefined> =>
  socketValues(client, "/api/v2/workspaceagents/{workspaceagent}/containers/watch", input, again, options)

export interface DeleteDevcontainerInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly devcontainer: string
}

/**
 * Delete a devcontainer. Stops and removes the container of a devcontainer. Its folder stays.
 *
 * `DELETE /api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const deleteDevcontainer = (client: Client, input: DeleteDevcontainerInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}", nothing, input, options)

export interface RecreateDevcontainerInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly devcontainer: string
}

/**
 * Recreate a devcontainer. Begins to make the container of a devcontainer anew.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}/recreate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const recreateDevcontainer = (client: Client, input: RecreateDevcontainerInput, options?: CallOptions): Promise<Message> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}/recreate", json, input, options)
