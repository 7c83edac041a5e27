// Generated from the contract by `npm run generate`. Changes here are lost.
/** Public keys of users' SSH clients. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { UserSshKey } from "./types.js"

export interface ListSshKeysInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * List SSH keys. Returns the public keys by which a user's SSH clients log in to the SSH gateway, oldest first.
 *
 * `GET /api/v2/users/{user}/ssh-keys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listSshKeys = (client: Client, input: ListSshKeysInput, options?: CallOptions): Promise<ReadonlyArray<UserSshKey>> =>
  call(client, "GET", "/api/v2/users/{user}/ssh-keys", json, input, options)

export interface AddSshKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    /** At most 255 characters. */
    readonly name?: string | undefined
    /** At most 16384 characters. */
    readonly public_key: string
  }
}

/**
 * Add an SSH key. Adds a public key by which the caller's SSH clients log in to the SSH gateway. The credential of the request must have all rights of its user.
 *
 * `POST /api/v2/users/{user}/ssh-keys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addSshKey = (client: Client, input: AddSshKeyInput, options?: CallOptions): Promise<UserSshKey> =>
  call(client, "POST", "/api/v2/users/{user}/ssh-keys", json, input, options)

export interface DeleteSshKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** A UUID. */
  readonly sshkey: string
}

/**
 * Delete an SSH key. Deletes a key of a user. The SSH connections that were made with it end.
 *
 * `DELETE /api/v2/users/{user}/ssh-keys/{sshkey}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteSshKey = (client: Client, input: DeleteSshKeyInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/users/{user}/ssh-keys/{sshkey}", nothing, input, options)
