// Generated from the contract by `npm run generate`. Changes here are lost.
/** Organizations and their settings. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { Message, Organization, WorkspaceSharingSettings } from "./types.js"

/**
 * List organizations. Returns the organizations that the caller may see.
 *
 * `GET /api/v2/organizations`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizations = (client: Client, options?: CallOptions): Promise<ReadonlyArray<Organization>> =>
  call(client, "GET", "/api/v2/organizations", json, {}, options)

export interface CreateOrganizationInput {
  readonly body: {
    readonly name: string
    readonly display_name?: string | undefined
    readonly description?: string | undefined
    readonly icon?: string | undefined
  }
}

/**
 * Create an organization. Creates an organization, whose first member and administrator is the caller.
 *
 * `POST /api/v2/organizations`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createOrganization = (client: Client, input: CreateOrganizationInput, options?: CallOptions): Promise<Organization> =>
  call(client, "POST", "/api/v2/organizations", json, input, options)

export interface GetOrganizationInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * Get an organization. Returns an organization by id or name.
 *
 * `GET /api/v2/organizations/{organization}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getOrganization = (client: Client, input: GetOrganizationInput, options?: CallOptions): Promise<Organization> =>
  call(client, "GET", "/api/v2/organizations/{organization}", json, input, options)

export interface UpdateOrganizationInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly name?: string | undefined
    readonly display_name?: string | undefined
    readonly description?: string | undefined
    readonly icon?: string | undefined
    /** At most 1000 items. */
    readonly default_org_member_roles?: ReadonlyArray<string> | undefined
  }
}

/**
 * Update an organization. Changes the given fields of an organization and keeps the others.
 *
 * `PATCH /api/v2/organizations/{organization}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateOrganization = (client: Client, input: UpdateOrganizationInput, options?: CallOptions): Promise<Organization> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}", json, input, options)

export interface DeleteOrganizationInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * Delete an organization. Deletes an organization without workspaces. The default organization cannot be deleted.
 *
 * `DELETE /api/v2/organizations/{organization}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteOrganization = (client: Client, input: DeleteOrganizationInput, options?: CallOptions): Promise<Message> =>
  call(client, "DELETE", "/api/v2/organizations/{organization}", json, input, options)

export interface GetWorkspaceSharingInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * Get sharing settings. Returns the owners whose workspaces can be shared within an organization.
 *
 * `GET /api/v2/organizations/{organization}/settings/workspace-sharing`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceSharing = (client: Client, input: GetWorkspaceSharingInput, options?: CallOptions): Promise<WorkspaceSharingSettings> =>
  call(client, "GET", "/api/v2/organizations/{organization}/settings/workspace-sharing", json, input, options)

export interface UpdateWorkspaceSharingInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly sharing_disabled?: boolean | undefined
    readonly shareable_workspace_owners?: "everyone" | "service_accounts" | "none" | "" | undefined
  }
}

/**
 * Update sharing settings. Sets the owners whose workspaces can be shared within an organization. Existing shares that are no longer allowed end.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/workspace-sharing`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateWorkspaceSharing = (client: Client, input: UpdateWorkspaceSharingInput, options?: CallOptions): Promise<WorkspaceSharingSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/workspace-sharing", json, input, options)
