// Generated from the contract by `npm run generate`. Changes here are lost.
/** Users' SSH keys for git. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { GitSSHKey } from "./types.js"

export interface GetGitSshKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a git SSH key. Returns the public half of a user's key for git.
 *
 * `GET /api/v2/users/{user}/gitsshkey`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGitSshKey = (client: Client, input: GetGitSshKeyInput, options?: CallOptions): Promise<GitSSHKey> =>
  call(client, "GET", "/api/v2/users/{user}/gitsshkey", json, input, options)

export interface RegenerateGitSshKeyInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Regenerate a git SSH key. Replaces a user's key for git and returns the new public half.
 *
 * `PUT /api/v2/users/{user}/gitsshkey`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const regenerateGitSshKey = (client: Client, input: RegenerateGitSshKeyInput, options?: CallOptions): Promise<GitSSHKey> =>
  call(client, "PUT", "/api/v2/users/{user}/gitsshkey", json, input, options)
