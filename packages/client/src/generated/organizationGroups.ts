// Generated from the contract by `npm run generate`. Changes here are lost.
/** Groups of one organization. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { Group, GroupMembersResponse, PaginatedGroupsResponse } from "./types.js"

export interface ListOrganizationGroupsInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly has_member?: string | undefined
  /** At most 1000 items. */
  readonly group_ids?: ReadonlyArray<string> | undefined
}

/**
 * List an organization's groups. Returns the groups of an organization with their members.
 *
 * `GET /api/v2/organizations/{organization}/groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationGroups = (client: Client, input: ListOrganizationGroupsInput, options?: CallOptions): Promise<ReadonlyArray<Group>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/groups", json, input, options)

export interface CreateGroupInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly name: string
    readonly display_name?: string | undefined
    readonly avatar_url?: string | undefined
    readonly quota_allowance?: number | undefined
  }
}

/**
 * Create a group. Creates a group of an organization.
 *
 * `POST /api/v2/organizations/{organization}/groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createGroup = (client: Client, input: CreateGroupInput, options?: CallOptions): Promise<Group> =>
  call(client, "POST", "/api/v2/organizations/{organization}/groups", json, input, options)

export interface ListGroupsInPagesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly q?: string | undefined
  /** A UUID. */
  readonly after_id?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
}

/**
 * List an organization's groups in pages. Returns the groups of an organization without their members, filtered by `q`, in pages.
 *
 * `GET /api/v2/organizations/{organization}/paginated-groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listGroupsInPages = (client: Client, input: ListGroupsInPagesInput, options?: CallOptions): Promise<PaginatedGroupsResponse> =>
  call(client, "GET", "/api/v2/organizations/{organization}/paginated-groups", json, input, options)

export interface GetGroupByNameInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly groupName: string
  readonly exclude_members?: boolean | undefined
}

/**
 * Get a group by name. Returns a group of an organization by its name.
 *
 * `GET /api/v2/organizations/{organization}/groups/{groupName}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupByName = (client: Client, input: GetGroupByNameInput, options?: CallOptions): Promise<Group> =>
  call(client, "GET", "/api/v2/organizations/{organization}/groups/{groupName}", json, input, options)

export interface ListGroupMembersByNameInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly groupName: string
  /** At most 4096 characters. */
  readonly q?: string | undefined
  /** A UUID. */
  readonly after_id?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
}

/**
 * List the members of a named group. Returns the members of a group that is found by its name, filtered by `q`, in pages.
 *
 * `GET /api/v2/organizations/{organization}/groups/{groupName}/members`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listGroupMembersByName = (client: Client, input: ListGroupMembersByNameInput, options?: CallOptions): Promise<GroupMembersResponse> =>
  call(client, "GET", "/api/v2/organizations/{organization}/groups/{groupName}/members", json, input, options)
