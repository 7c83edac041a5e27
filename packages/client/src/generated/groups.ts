// Generated from the contract by `npm run generate`. Changes here are lost.
/** Groups, in all organizations. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { Group, GroupMembersResponse } from "./types.js"

export interface ListGroupsInput {
  /** At most 4096 characters. */
  readonly organization?: string | undefined
  /** At most 4096 characters. */
  readonly has_member?: string | undefined
  /** At most 1000 items. */
  readonly group_ids?: ReadonlyArray<string> | undefined
}

/**
 * List groups. Returns the groups that the caller may see, of one organization, with one member or by id.
 *
 * `GET /api/v2/groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listGroups = (client: Client, input: ListGroupsInput = {}, options?: CallOptions): Promise<ReadonlyArray<Group>> =>
  call(client, "GET", "/api/v2/groups", json, input, options)

export interface GetGroupInput {
  /** A UUID. */
  readonly group: string
  readonly exclude_members?: boolean | undefined
}

/**
 * Get a group. Returns a group and those of its members that the caller may see.
 *
 * `GET /api/v2/groups/{group}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroup = (client: Client, input: GetGroupInput, options?: CallOptions): Promise<Group> =>
  call(client, "GET", "/api/v2/groups/{group}", json, input, options)

export interface UpdateGroupInput {
  /** At most 1024 characters. */
  readonly group: string
  readonly body: {
    readonly name?: string | undefined
    readonly display_name?: string | null | undefined
    readonly avatar_url?: string | null | undefined
    readonly quota_allowance?: number | null | undefined
    /** At most 1000 items. */
    readonly add_users?: ReadonlyArray<string> | undefined
    /** At most 1000 items. */
    readonly remove_users?: ReadonlyArray<string> | undefined
  }
}

/**
 * Update a group. Changes the given fields of a group, and adds and removes members.
 *
 * `PATCH /api/v2/groups/{group}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateGroup = (client: Client, input: UpdateGroupInput, options?: CallOptions): Promise<Group> =>
  call(client, "PATCH", "/api/v2/groups/{group}", json, input, options)

export interface DeleteGroupInput {
  /** At most 1024 characters. */
  readonly group: string
}

/**
 * Delete a group. Deletes a group and its shares. Returns the group as it was.
 *
 * `DELETE /api/v2/groups/{group}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteGroup = (client: Client, input: DeleteGroupInput, options?: CallOptions): Promise<Group> =>
  call(client, "DELETE", "/api/v2/groups/{group}", json, input, options)

export interface ListGroupMembersInput {
  /** A UUID. */
  readonly group: string
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
 * List a group's members. Returns the members of a group, filtered by `q`, in pages. `count` is the number of all matches.
 *
 * `GET /api/v2/groups/{group}/members`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listGroupMembers = (client: Client, input: ListGroupMembersInput, options?: CallOptions): Promise<GroupMembersResponse> =>
  call(client, "GET", "/api/v2/groups/{group}/members", json, input, options)
