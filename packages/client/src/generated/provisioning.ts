// Generated from the contract by `npm run generate`. Changes here are lost.
/** Archives, provisioner jobs and daemons. */
import type { Client } from "../Client.js"
import { bytes, call, json, type Bytes, type CallOptions } from "../call.js"
import type { ProvisionerDaemon, ProvisionerJob } from "./types.js"

export interface UploadFileResult {
  /** A UUID. */
  readonly hash: string
}

export interface UploadFileInput {
  readonly contentType: "application/x-tar" | "application/zip" | "application/x-zip-compressed"
  readonly body: Bytes
}

/**
 * Upload an archive. Stores a tar or zip archive, the zip as a tar. The same content is stored once for each user; 200 means that it was there.
 *
 * `POST /api/v2/files`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const uploadFile = (client: Client, input: UploadFileInput, options?: CallOptions): Promise<UploadFileResult> =>
  call(client, "POST", "/api/v2/files", json, input, options)

export interface DownloadFileInput {
  /** A UUID. */
  readonly fileID: string
  readonly format?: "zip" | undefined
}

/**
 * Download an archive. Returns an archive as a tar, or as a zip on request.
 *
 * `GET /api/v2/files/{fileID}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const downloadFile = (client: Client, input: DownloadFileInput, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/files/{fileID}", bytes, input, options)

export interface ListProvisionerJobsInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** At most 1000 items. */
  readonly ids?: ReadonlyArray<string> | undefined
  /** At most 4096 characters. */
  readonly tags?: string | undefined
  /** At most 1000 items. */
  readonly status?: ReadonlyArray<"pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"> | undefined
  /** A UUID. */
  readonly initiator?: string | undefined
}

/**
 * List provisioner jobs. Returns jobs of an organization, newest first, filtered by status, tags, initiator or id.
 *
 * `GET /api/v2/organizations/{organization}/provisionerjobs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProvisionerJobs = (client: Client, input: ListProvisionerJobsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerJob>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/provisionerjobs", json, input, options)

export interface GetProvisionerJobInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** A UUID. */
  readonly job: string
}

/**
 * Get a provisioner job. Returns a job of an organization.
 *
 * `GET /api/v2/organizations/{organization}/provisionerjobs/{job}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getProvisionerJob = (client: Client, input: GetProvisionerJobInput, options?: CallOptions): Promise<ProvisionerJob> =>
  call(client, "GET", "/api/v2/organizations/{organization}/provisionerjobs/{job}", json, input, options)

export interface ListProvisionerDaemonsInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** At most 1000 items. */
  readonly ids?: ReadonlyArray<string> | undefined
  /** At most 4096 characters. */
  readonly tags?: string | undefined
  readonly offline?: boolean | undefined
  /** At most 1000 items. */
  readonly status?: ReadonlyArray<"offline" | "idle" | "busy"> | undefined
  /** At most 4096 characters. */
  readonly max_age?: string | undefined
}

/**
 * List provisioner daemons. Returns the daemons that run jobs of an organization, filtered by status, tags or age.
 *
 * `GET /api/v2/organizations/{organization}/provisionerdaemons`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listProvisionerDaemons = (client: Client, input: ListProvisionerDaemonsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerDaemon>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/provisionerdaemons", json, input, options)
