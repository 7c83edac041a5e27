// Generated from the contract by `npm run generate`. Changes here are lost.
/** What becomes of builds and agents. */
import type { Client } from "../Client.js"
import { socketValues } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { ConnectionWatchEvent, EndedWorkspaceBuild } from "./types.js"

export interface WatchAgentConnectionInput {
  /** A UUID. */
  readonly workspace: string
  /** At most 4096 characters. */
  readonly agent_name?: string | undefined
}

/**
 * Watch an agent's connection. Sends the state of a workspace's latest build and of its agent over a WebSocket, at first and after each change.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaces/{workspace}/agent-connection-watch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchAgentConnection = (client: Client, input: WatchAgentConnectionInput, options?: StreamOptions): AsyncGenerator<ConnectionWatchEvent, void, undefined> =>
  socketValues(client, "/api/v2/workspaces/{workspace}/agent-connection-watch", input, again, options)

/**
 * Watch all builds. Sends each build that has ended over a WebSocket, if the experiment is on.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/experimental/watch-all-workspacebuilds`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchAllWorkspaceBuilds = (client: Client, options?: StreamOptions): AsyncGenerator<EndedWorkspaceBuild, void, undefined> =>
  socketValues(client, "/api/experimental/watch-all-workspacebuilds", {}, again, options)
