// Generated from the contract by `npm run generate`. Changes here are lost.
/** Users, their roles and their state. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { AssignableRoles, GetUsersResponse, LoginType, Message, Organization, User, UserRoles, UserStatus } from "./types.js"

export interface ListUsersInput {
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
 * List users. Returns the users that the caller may see, filtered by `q`, in pages. `count` is the number of all matches.
 *
 * `GET /api/v2/users`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listUsers = (client: Client, input: ListUsersInput = {}, options?: CallOptions): Promise<GetUsersResponse> =>
  call(client, "GET", "/api/v2/users", json, input, options)

export interface CreateUserInput {
  readonly body: {
    readonly email: string
    readonly username: string
    readonly name?: string | undefined
    readonly password?: string | undefined
    readonly login_type?: LoginType | undefined
    readonly user_status?: UserStatus | undefined
    readonly service_account?: boolean | undefined
    /** At most 1000 items. */
    readonly organization_ids?: ReadonlyArray<string> | undefined
    /** A UUID. */
    readonly organization_id?: string | undefined
    /** At most 1000 items. */
    readonly roles?: ReadonlyArray<string> | undefined
  }
}

/**
 * Create a user. Creates a user with a way to log in, optionally as a member of organizations and with roles.
 *
 * `POST /api/v2/users`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createUser = (client: Client, input: CreateUserInput, options?: CallOptions): Promise<User> =>
  call(client, "POST", "/api/v2/users", json, input, options)

export interface GetUserInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user. Returns a user by id or name; `me` is the caller.
 *
 * `GET /api/v2/users/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUser = (client: Client, input: GetUserInput, options?: CallOptions): Promise<User> =>
  call(client, "GET", "/api/v2/users/{user}", json, input, options)

export interface DeleteUserInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Delete a user. Deletes a user who has no workspaces. The name and email address become free.
 *
 * `DELETE /api/v2/users/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 417 InUse, 431 HeadTooLarge
 */
export const deleteUser = (client: Client, input: DeleteUserInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}", nothing, input, options)

export interface UpdateProfileInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly username: string
    readonly name?: string | undefined
    readonly avatar_url?: string | undefined
  }
}

/**
 * Update a profile. Changes a user's name, display name and avatar.
 *
 * `PUT /api/v2/users/{user}/profile`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateProfile = (client: Client, input: UpdateProfileInput, options?: CallOptions): Promise<User> =>
  call(client, "PUT", "/api/v2/users/{user}/profile", json, input, options)

export interface SuspendUserInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Suspend a user. Suspends a user, who can no longer log in. The user's sessions and tokens stop working.
 *
 * `PUT /api/v2/users/{user}/status/suspend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const suspendUser = (client: Client, input: SuspendUserInput, options?: CallOptions): Promise<User> =>
  call(client, "PUT", "/api/v2/users/{user}/status/suspend", json, input, options)

export interface ActivateUserInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Activate a user. Activates a suspended or dormant user.
 *
 * `PUT /api/v2/users/{user}/status/activate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const activateUser = (client: Client, input: ActivateUserInput, options?: CallOptions): Promise<User> =>
  call(client, "PUT", "/api/v2/users/{user}/status/activate", json, input, options)

/**
 * List roles of the deployment. Returns the roles that users can have in the whole deployment, and whether the caller may assign each.
 *
 * `GET /api/v2/users/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listSiteRoles = (client: Client, options?: CallOptions): Promise<ReadonlyArray<AssignableRoles>> =>
  call(client, "GET", "/api/v2/users/roles", json, {}, options)

export interface GetUserRolesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's roles. Returns the roles that a user has in the deployment and in each organization.
 *
 * `GET /api/v2/users/{user}/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserRoles = (client: Client, input: GetUserRolesInput, options?: CallOptions): Promise<UserRoles> =>
  call(client, "GET", "/api/v2/users/{user}/roles", json, input, options)

export interface UpdateUserRolesInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    /** At most 1000 items. */
    readonly roles?: ReadonlyArray<string> | undefined
  }
}

/**
 * Set a user's roles. Replaces the roles that a user has in the deployment.
 *
 * `PUT /api/v2/users/{user}/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateUserRoles = (client: Client, input: UpdateUserRolesInput, options?: CallOptions): Promise<User> =>
  call(client, "PUT", "/api/v2/users/{user}/roles", json, input, options)

export interface ListUserOrganizationsInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * List a user's organizations. Returns the organizations that a user is a member of.
 *
 * `GET /api/v2/users/{user}/organizations`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listUserOrganizations = (client: Client, input: ListUserOrganizationsInput, options?: CallOptions): Promise<ReadonlyArray<Organization>> =>
  call(client, "GET", "/api/v2/users/{user}/organizations", json, input, options)

export interface GetUserOrganizationInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly organizationname: string
}

/**
 * Get a user's organization. Returns an organization by name if the user is a member of it.
 *
 * `GET /api/v2/users/{user}/organizations/{organizationname}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserOrganization = (client: Client, input: GetUserOrganizationInput, options?: CallOptions): Promise<Organization> =>
  call(client, "GET", "/api/v2/users/{user}/organizations/{organizationname}", json, input, options)

/**
 * Check for the first user. Answers 200 if the deployment has a user, and 404 if it waits for the first one. Needs no credential.
 *
 * `GET /api/v2/users/first`
 *
 * @throws AtelierError 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const hasFirstUser = (client: Client, options?: CallOptions): Promise<Message> =>
  call(client, "GET", "/api/v2/users/first", json, {}, options)

export interface CreateFirstUserResult {
  /** A UUID. */
  readonly user_id: string
  /** A UUID. */
  readonly organization_id: string
}

export interface CreateFirstUserInput {
  readonly body: {
    readonly email: string
    readonly username: string
    readonly name?: string | undefined
    readonly password: string
    readonly trial?: boolean | undefined
    readonly trial_info?: {
      readonly first_name?: string | undefined
      readonly last_name?: string | undefined
      readonly phone_number?: string | undefined
      readonly job_title?: string | undefined
      readonly company_name?: string | undefined
      readonly country?: string | undefined
      readonly developers?: string | undefined
    } | undefined
    readonly onboarding_info?: {
      readonly newsletter_marketing?: boolean | undefined
      readonly newsletter_releases?: boolean | undefined
    } | undefined
  }
}

/**
 * Create the first user. Creates the first user of a new deployment, who becomes its owner. Refused once a user exists. Callers of other machines may need the deployment's set-up token, in the header Service-Setup-Token.
 *
 * `POST /api/v2/users/first`
 *
 * @throws AtelierError 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createFirstUser = (client: Client, input: CreateFirstUserInput, options?: CallOptions): Promise<CreateFirstUserResult> =>
  call(client, "POST", "/api/v2/users/first", json, input, options)
