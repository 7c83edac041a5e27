// Generated from the contract by `npm run generate`. Changes here are lost.
/** Terminals of workspaces. */
import type { Client } from "../Client.js"
import type { CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"

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
