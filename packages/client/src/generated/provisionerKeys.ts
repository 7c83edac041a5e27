// Generated from the contract by `npm run generate`. Changes here are lost.
/** Keys of provisioner daemons. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { ProvisionerKey, ProvisionerKeyDaemons } from "./types.js"

export interface CreateProvisionerKeyResult {
  readonly key: string
}

export interface CreateProvisionerKeyInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly name: string
    readonly tags?: Readonly<Record<string, string>> | undefined
  }
}

/**
 * Create a provisioner key. Creates a key with which daemons on other machines connect, and returns it once.
 *
 * `POST /api/v2/organizations/{organization}/provisionerkeys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createProvisionerKey = (client: Client, input: CreateProvisionerKeyInput, options?: CallOptions): Promise<CreateProvisionerKeyResult> =>
  call(client, "POST", "/api/v2/organizations/{organization}/provisionerkeys", json, input, options)

export interface ListProvisionerKeysInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * List provisioner keys. Returns the keys of an organization's daemons, by creation, without secrets.
 *
 * `GET /api/v2/organizations/{organization}/provisionerkeys`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProvisionerKeys = (client: Client, input: ListProvisionerKeysInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerKey>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/provisionerkeys", json, input, options)

export interface ListProvisionerKeyDaemonsInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * List the daemons of each key. Returns all keys, built-in ones too, each with its daemons of the last three minutes.
 *
 * `GET /api/v2/organizations/{organization}/provisionerkeys/daemons`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProvisionerKeyDaemons = (client: Client, input: ListProvisionerKeyDaemonsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerKeyDaemons>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/provisionerkeys/daemons", json, input, options)

export interface DeleteProvisionerKeyInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly provisionerkey: string
}

/**
 * Delete a provisioner key. Deletes a key and disconnects its daemons.
 *
 * `DELETE /api/v2/organizations/{organization}/provisionerkeys/{provisionerkey}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteProvisionerKey = (client: Client, input: DeleteProvisionerKeyInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/organizations/{organization}/provisionerkeys/{provisionerkey}", nothing, input, options)

export interface GetProvisionerKeyInput {
  /** At most 1024 characters. */
  readonly provisionerkey: string
}

/**
 * Get the calling provisioner key. Returns the key that the request's header holds, whatever the path names.
 *
 * `GET /api/v2/provisionerkeys/{provisionerkey}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getProvisionerKey = (client: Client, input: GetProvisionerKeyInput, options?: CallOptions): Promise<ProvisionerKey> =>
  call(client, "GET", "/api/v2/provisionerkeys/{provisionerkey}", json, input, options)

export interface ServeProvisionerDaemonInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1000 items. */
  readonly provisioner?: ReadonlyArray<string> | undefined
  /** At most 1000 items. */
  readonly tag?: ReadonlyArray<string> | undefined
  /** At most 4096 characters. */
  readonly name?: string | undefined
  /** At most 4096 characters. */
  readonly version?: string | undefined
  /** At most 1000 items. */
  readonly repeatable?: ReadonlyArray<string> | undefined
  /** At most 1000 items. */
  readonly engine?: ReadonlyArray<string> | undefined
}

/**
 * Connect a provisioner daemon. Upgrades to the WebSocket over which a daemon takes jobs and reports on them.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/organizations/{organization}/provisionerdaemons/serve`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const serveProvisionerDaemon = (client: Client, input: ServeProvisionerDaemonInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/organizations/{organization}/provisionerdaemons/serve", input, options)
