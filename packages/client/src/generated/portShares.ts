// Generated from the contract by `npm run generate`. Changes here are lost.
/** Shared ports of workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { WorkspaceAgentPortShare, WorkspaceAgentPortShares } from "./types.js"

export interface ListPortSharesInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * List port shares. Returns the shared ports of a workspace, by port.
 *
 * `GET /api/v2/workspaces/{workspace}/port-share`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listPortShares = (client: Client, input: ListPortSharesInput, options?: CallOptions): Promise<WorkspaceAgentPortShares> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/port-share", json, input, options)

export interface SharePortInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly agent_name: string
    readonly port: number
    readonly share_level: string
    readonly protocol: string
  }
}

/**
 * Share a port. Shares a port of an agent, or changes how far it is shared.
 *
 * `POST /api/v2/workspaces/{workspace}/port-share`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const sharePort = (client: Client, input: SharePortInput, options?: CallOptions): Promise<WorkspaceAgentPortShare> =>
  call(client, "POST", "/api/v2/workspaces/{workspace}/port-share", json, input, options)

export interface UnsharePortInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly agent_name?: string | undefined
    readonly port?: number | undefined
  }
}

/**
 * End a port share. Makes a shared port its owner's again.
 *
 * `DELETE /api/v2/workspaces/{workspace}/port-share`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const unsharePort = (client: Client, input: UnsharePortInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaces/{workspace}/port-share", nothing, input, options)
