// Generated from the contract by `npm run generate`. Changes here are lost.
/** Users as identity providers manage them (SCIM 2.0). */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { SCIMCreatedUser, SCIMPatch, SCIMReplacedUser, SCIMResourceType, SCIMSchema, SCIMUser } from "./types.js"

export interface GetScimServiceProviderConfigResult {
  readonly schemas: ReadonlyArray<string>
  readonly patch: {
    readonly supported: boolean
  }
  readonly bulk: {
    readonly supported: boolean
    readonly maxOperations: number
    readonly maxPayloadSize: number
  }
  readonly filter: {
    readonly supported: boolean
    readonly maxResults: number
  }
  readonly changePassword: {
    readonly supported: boolean
  }
  readonly sort: {
    readonly supported: boolean
  }
  readonly etag: {
    readonly supported: boolean
  }
  readonly authenticationSchemes: ReadonlyArray<{
    readonly type: string
    readonly name: string
    readonly description: string
    readonly specUri: string
    readonly primary: boolean
  }>
  readonly meta: {
    readonly resourceType: string
    readonly location: string
  }
}

/**
 * Get SCIM capabilities. Returns which optional parts of SCIM 2.0 the service supports (RFC 7643 §5).
 *
 * `GET /scim/v2/ServiceProviderConfig`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getScimServiceProviderConfig = (client: Client, options?: CallOptions): Promise<GetScimServiceProviderConfigResult> =>
  call(client, "GET", "/scim/v2/ServiceProviderConfig", json, {}, options)

export interface ListScimResourceTypesResult {
  readonly schemas: ReadonlyArray<string>
  readonly totalResults: number
  readonly startIndex: number
  readonly itemsPerPage: number
  readonly Resources: ReadonlyArray<SCIMResourceType>
}

/**
 * List SCIM resource types. Returns the kinds of resources that can be provisioned (RFC 7643 §6).
 *
 * `GET /scim/v2/ResourceTypes`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listScimResourceTypes = (client: Client, options?: CallOptions): Promise<ListScimResourceTypesResult> =>
  call(client, "GET", "/scim/v2/ResourceTypes", json, {}, options)

export interface GetScimResourceTypeInput {
  /** At most 1024 characters. */
  readonly name: string
}

/**
 * Get a SCIM resource type. Returns a kind of resources by its name.
 *
 * `GET /scim/v2/ResourceTypes/{name}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getScimResourceType = (client: Client, input: GetScimResourceTypeInput, options?: CallOptions): Promise<SCIMResourceType> =>
  call(client, "GET", "/scim/v2/ResourceTypes/{name}", json, input, options)

export interface ListScimSchemasResult {
  readonly schemas: ReadonlyArray<string>
  readonly totalResults: number
  readonly startIndex: number
  readonly itemsPerPage: number
  readonly Resources: ReadonlyArray<SCIMSchema>
}

/**
 * List SCIM schemas. Returns the attributes of each kind of resources (RFC 7643 §7).
 *
 * `GET /scim/v2/Schemas`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listScimSchemas = (client: Client, options?: CallOptions): Promise<ListScimSchemasResult> =>
  call(client, "GET", "/scim/v2/Schemas", json, {}, options)

export interface GetScimSchemaInput {
  /** At most 1024 characters. */
  readonly name: string
}

/**
 * Get a SCIM schema. Returns the attributes of a kind of resources by its URN.
 *
 * `GET /scim/v2/Schemas/{name}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getScimSchema = (client: Client, input: GetScimSchemaInput, options?: CallOptions): Promise<SCIMSchema> =>
  call(client, "GET", "/scim/v2/Schemas/{name}", json, input, options)

export interface ListScimUsersResult {
  readonly schemas: ReadonlyArray<string>
  readonly totalResults: number
  readonly startIndex: number
  readonly itemsPerPage: number
  readonly Resources: ReadonlyArray<SCIMUser>
}

export interface ListScimUsersInput {
  readonly startIndex?: number | undefined
  readonly count?: number | undefined
  /** At most 4096 characters. */
  readonly filter?: string | undefined
}

/**
 * List users by SCIM. Returns users in pages, filtered by name (RFC 7644 §3.4.2).
 *
 * `GET /scim/v2/Users`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listScimUsers = (client: Client, input: ListScimUsersInput = {}, options?: CallOptions): Promise<ListScimUsersResult> =>
  call(client, "GET", "/scim/v2/Users", json, input, options)

export interface CreateScimUserInput {
  readonly body: SCIMCreatedUser
}

/**
 * Create a user by SCIM. Creates a user who logs in through the identity provider, or activates the suspended user with this email address.
 *
 * `POST /scim/v2/Users`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createScimUser = (client: Client, input: CreateScimUserInput, options?: CallOptions): Promise<SCIMUser> =>
  call(client, "POST", "/scim/v2/Users", json, input, options)

export interface GetScimUserInput {
  /** At most 1024 characters. */
  readonly id: string
}

/**
 * Get a user by SCIM. Returns a user by its id.
 *
 * `GET /scim/v2/Users/{id}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getScimUser = (client: Client, input: GetScimUserInput, options?: CallOptions): Promise<SCIMUser> =>
  call(client, "GET", "/scim/v2/Users/{id}", json, input, options)

export interface ReplaceScimUserInput {
  /** At most 1024 characters. */
  readonly id: string
  readonly body: SCIMReplacedUser
}

/**
 * Replace a user by SCIM. Sets whether a user is active. The service keeps the other attributes as they are.
 *
 * `PUT /scim/v2/Users/{id}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const replaceScimUser = (client: Client, input: ReplaceScimUserInput, options?: CallOptions): Promise<SCIMUser> =>
  call(client, "PUT", "/scim/v2/Users/{id}", json, input, options)

export interface UpdateScimUserInput {
  /** At most 1024 characters. */
  readonly id: string
  readonly body: SCIMPatch
}

/**
 * Update a user by SCIM. Applies a list of operations to a user (RFC 7644 §3.5.2).
 *
 * `PATCH /scim/v2/Users/{id}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateScimUser = (client: Client, input: UpdateScimUserInput, options?: CallOptions): Promise<SCIMUser> =>
  call(client, "PATCH", "/scim/v2/Users/{id}", json, input, options)

export interface SuspendScimUserInput {
  /** At most 1024 characters. */
  readonly id: string
}

/**
 * Suspend a user by SCIM. Suspends a user whom the identity provider has removed.
 *
 * `DELETE /scim/v2/Users/{id}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const suspendScimUser = (client: Client, input: SuspendScimUserInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/scim/v2/Users/{id}", nothing, input, options)
