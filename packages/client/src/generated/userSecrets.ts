// Generated from the contract by `npm run generate`. Changes here are lost.
/** Secrets that users give their workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { SecretsFileFormat, UserSecret } from "./types.js"

export interface CreateUserSecretInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly name: string
    readonly value: string
    readonly description?: string | undefined
    readonly env_name?: string | undefined
    readonly file_path?: string | undefined
    readonly enabled?: boolean | undefined
  }
}

/**
 * Create a secret. Stores a secret that the user's workspaces get as a variable or file. The value is never shown again.
 *
 * `POST /api/v2/users/{user}/secrets`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createUserSecret = (client: Client, input: CreateUserSecretInput, options?: CallOptions): Promise<UserSecret> =>
  call(client, "POST", "/api/v2/users/{user}/secrets", json, input, options)

export interface ListUserSecretsInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * List secrets. Returns a user's secrets without their values.
 *
 * `GET /api/v2/users/{user}/secrets`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listUserSecrets = (client: Client, input: ListUserSecretsInput, options?: CallOptions): Promise<ReadonlyArray<UserSecret>> =>
  call(client, "GET", "/api/v2/users/{user}/secrets", json, input, options)

export interface ImportUserSecretsInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly format: SecretsFileFormat
    readonly content: string
  }
}

/**
 * Import secrets. Creates secrets from a document of names and values. Either all of them are stored or none.
 *
 * `POST /api/v2/users/{user}/secrets/batch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const importUserSecrets = (client: Client, input: ImportUserSecretsInput, options?: CallOptions): Promise<ReadonlyArray<UserSecret>> =>
  call(client, "POST", "/api/v2/users/{user}/secrets/batch", json, input, options)

export interface GetUserSecretInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly name: string
}

/**
 * Get a secret. Returns a secret without its value.
 *
 * `GET /api/v2/users/{user}/secrets/{name}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getUserSecret = (client: Client, input: GetUserSecretInput, options?: CallOptions): Promise<UserSecret> =>
  call(client, "GET", "/api/v2/users/{user}/secrets/{name}", json, input, options)

export interface UpdateUserSecretInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly name: string
  readonly body: {
    readonly value?: string | undefined
    readonly description?: string | undefined
    readonly env_name?: string | undefined
    readonly file_path?: string | undefined
    readonly enabled?: boolean | undefined
  }
}

/**
 * Update a secret. Changes the given fields of a secret and keeps the others.
 *
 * `PATCH /api/v2/users/{user}/secrets/{name}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateUserSecret = (client: Client, input: UpdateUserSecretInput, options?: CallOptions): Promise<UserSecret> =>
  call(client, "PATCH", "/api/v2/users/{user}/secrets/{name}", json, input, options)

export interface DeleteUserSecretInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly name: string
}

/**
 * Delete a secret. Deletes a secret.
 *
 * `DELETE /api/v2/users/{user}/secrets/{name}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteUserSecret = (client: Client, input: DeleteUserSecretInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}/secrets/{name}", nothing, input, options)
