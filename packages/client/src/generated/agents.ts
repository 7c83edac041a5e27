// Generated from the contract by `npm run generate`. Changes here are lost.
/** Agents as readers of their workspaces see them. */
import type { Client } from "../Client.js"
import { call, json, text, type CallOptions } from "../call.js"
import { serverSentEvents } from "../events.js"
import { socketEvents, socketValues } from "../sockets.js"
import { again, behind, type StreamOptions } from "../stream.js"
import type { WorkspaceAgent, WorkspaceAgentLog, WorkspaceAgentMetadata } from "./types.js"

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
