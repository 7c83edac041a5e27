// Generated from the contract by `npm run generate`. Changes here are lost.
/** Members of organizations and their roles. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { AssignableRoles, CustomRoleRequest, OrganizationMember, OrganizationMemberWithUserData, PaginatedMembersResponse, Role } from "./types.js"

export interface ListMembersInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly q?: string | undefined
}

/**
 * List members. Returns the members of an organization with their users, filtered by `q`.
 *
 * `GET /api/v2/organizations/{organization}/members`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listMembers = (client: Client, input: ListMembersInput, options?: CallOptions): Promise<ReadonlyArray<OrganizationMemberWithUserData>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/members", json, input, options)

export interface PageMembersInput {
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
 * List members in pages. Returns the members of an organization with their users, filtered by `q`, in pages. `count` is the number of all matches.
 *
 * `GET /api/v2/organizations/{organization}/paginated-members`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const pageMembers = (client: Client, input: PageMembersInput, options?: CallOptions): Promise<PaginatedMembersResponse> =>
  call(client, "GET", "/api/v2/organizations/{organization}/paginated-members", json, input, options)

export interface ListOrganizationRolesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * List an organization's roles. Returns the built-in and custom roles of an organization, and whether the caller may assign each.
 *
 * `GET /api/v2/organizations/{organization}/members/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationRoles = (client: Client, input: ListOrganizationRolesInput, options?: CallOptions): Promise<ReadonlyArray<AssignableRoles>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/members/roles", json, input, options)

export interface CreateCustomRoleInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: CustomRoleRequest
}

/**
 * Create a custom role. Creates a role of an organization from a name and permissions.
 *
 * `POST /api/v2/organizations/{organization}/members/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createCustomRole = (client: Client, input: CreateCustomRoleInput, options?: CallOptions): Promise<Role> =>
  call(client, "POST", "/api/v2/organizations/{organization}/members/roles", json, input, options)

export interface UpdateCustomRoleInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: CustomRoleRequest
}

/**
 * Update a custom role. Replaces the display name and permissions of a custom role.
 *
 * `PUT /api/v2/organizations/{organization}/members/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateCustomRole = (client: Client, input: UpdateCustomRoleInput, options?: CallOptions): Promise<Role> =>
  call(client, "PUT", "/api/v2/organizations/{organization}/members/roles", json, input, options)

export interface DeleteCustomRoleInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly roleName: string
}

/**
 * Delete a custom role. Deletes a custom role, which its holders lose.
 *
 * `DELETE /api/v2/organizations/{organization}/members/roles/{roleName}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteCustomRole = (client: Client, input: DeleteCustomRoleInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/organizations/{organization}/members/roles/{roleName}", nothing, input, options)

export interface GetMemberInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a member. Returns a member of an organization with its user.
 *
 * `GET /api/v2/organizations/{organization}/members/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getMember = (client: Client, input: GetMemberInput, options?: CallOptions): Promise<OrganizationMemberWithUserData> =>
  call(client, "GET", "/api/v2/organizations/{organization}/members/{user}", json, input, options)

export interface AddMemberInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Add a member. Makes a user a member of an organization.
 *
 * `POST /api/v2/organizations/{organization}/members/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addMember = (client: Client, input: AddMemberInput, options?: CallOptions): Promise<OrganizationMember> =>
  call(client, "POST", "/api/v2/organizations/{organization}/members/{user}", json, input, options)

export interface RemoveMemberInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Remove a member. Ends a user's membership of an organization, with its roles and groups there.
 *
 * `DELETE /api/v2/organizations/{organization}/members/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const removeMember = (client: Client, input: RemoveMemberInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/organizations/{organization}/members/{user}", nothing, input, options)

export interface UpdateMemberRolesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    /** At most 1000 items. */
    readonly roles?: ReadonlyArray<string> | undefined
  }
}

/**
 * Set a member's roles. Replaces the roles that a member has in an organization.
 *
 * `PUT /api/v2/organizations/{organization}/members/{user}/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateMemberRoles = (client: Client, input: UpdateMemberRolesInput, options?: CallOptions): Promise<OrganizationMember> =>
  call(client, "PUT", "/api/v2/organizations/{organization}/members/{user}/roles", json, input, options)
