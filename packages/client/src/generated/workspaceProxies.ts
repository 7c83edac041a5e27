// Generated from the contract by `npm run generate`. Changes here are lost.
/** Other places from which apps and terminals of workspaces are served. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { Message, WorkspaceProxies, WorkspaceProxy, WorkspaceProxyWithToken } from "./types.js"

/**
 * List workspace proxies. Returns the deployment itself as the primary proxy, and then the others by name.
 *
 * `GET /api/v2/workspaceproxies`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listWorkspaceProxies = (client: Client, options?: CallOptions): Promise<WorkspaceProxies> =>
  call(client, "GET", "/api/v2/workspaceproxies", json, {}, options)

export interface CreateWorkspaceProxyInput {
  readonly body: {
    readonly name: string
    readonly display_name?: string | undefined
    readonly icon?: string | undefined
  }
}

/**
 * Create a workspace proxy. Creates a proxy, and returns the token that its processes present.
 *
 * `POST /api/v2/workspaceproxies`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createWorkspaceProxy = (client: Client, input: CreateWorkspaceProxyInput, options?: CallOptions): Promise<WorkspaceProxyWithToken> =>
  call(client, "POST", "/api/v2/workspaceproxies", json, input, options)

export interface GetWorkspaceProxyInput {
  /** At most 1024 characters. */
  readonly workspaceproxy: string
}

/**
 * Get a workspace proxy. Returns a proxy by its id or exact name; by id also a deleted one.
 *
 * `GET /api/v2/workspaceproxies/{workspaceproxy}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceProxy = (client: Client, input: GetWorkspaceProxyInput, options?: CallOptions): Promise<WorkspaceProxy> =>
  call(client, "GET", "/api/v2/workspaceproxies/{workspaceproxy}", json, input, options)

export interface UpdateWorkspaceProxyInput {
  /** At most 1024 characters. */
  readonly workspaceproxy: string
  readonly body: {
    readonly id: string
    readonly name: string
    readonly display_name: string
    readonly icon: string
    readonly regenerate_token?: boolean | undefined
  }
}

/**
 * Change a workspace proxy. Changes the name, the display name and the icon, and makes a new token on request.
 *
 * `PATCH /api/v2/workspaceproxies/{workspaceproxy}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateWorkspaceProxy = (client: Client, input: UpdateWorkspaceProxyInput, options?: CallOptions): Promise<WorkspaceProxyWithToken> =>
  call(client, "PATCH", "/api/v2/workspaceproxies/{workspaceproxy}", json, input, options)

export interface DeleteWorkspaceProxyInput {
  /** At most 1024 characters. */
  readonly workspaceproxy: string
}

/**
 * Delete a workspace proxy. Deletes a proxy. Its token ends at once, and its name becomes free.
 *
 * `DELETE /api/v2/workspaceproxies/{workspaceproxy}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteWorkspaceProxy = (client: Client, input: DeleteWorkspaceProxyInput, options?: CallOptions): Promise<Message> =>
  call(client, "DELETE", "/api/v2/workspaceproxies/{workspaceproxy}", json, input, options)
