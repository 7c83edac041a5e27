// Generated from the contract by `npm run generate`. Changes here are lost.
/** Access lists of workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { WorkspaceACL } from "./types.js"

export interface GetWorkspaceAclInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Get a workspace's access list. Returns the users and groups that a workspace is shared with, and their roles.
 *
 * `GET /api/v2/workspaces/{workspace}/acl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceAcl = (client: Client, input: GetWorkspaceAclInput, options?: CallOptions): Promise<WorkspaceACL> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/acl", json, input, options)

export interface UpdateWorkspaceAclInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly user_roles?: Readonly<Record<string, string>> | undefined
    readonly group_roles?: Readonly<Record<string, string>> | undefined
  }
}

/**
 * Update a workspace's access list. Sets roles of users and groups in a workspace; an empty role ends the share.
 *
 * `PATCH /api/v2/workspaces/{workspace}/acl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateWorkspaceAcl = (client: Client, input: UpdateWorkspaceAclInput, options?: CallOptions): Promise<void> =>
  call(client, "PATCH", "/api/v2/workspaces/{workspace}/acl", nothing, input, options)

export interface ClearWorkspaceAclInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Clear a workspace's access list. Ends all shares of a workspace.
 *
 * `DELETE /api/v2/workspaces/{workspace}/acl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const clearWorkspaceAcl = (client: Client, input: ClearWorkspaceAclInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaces/{workspace}/acl", nothing, input, options)
