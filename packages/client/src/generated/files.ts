// Generated from the contract by `npm run generate`. Changes here are lost.
/** Files of workspaces. */
import type { Client } from "../Client.js"
import { bytes, call, json, nothing, type Bytes, type CallOptions } from "../call.js"
import { socketValues } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { FileChanges, FileEntry, FileList, FileMatches, UnpackedArchive } from "./types.js"

export interface ReadFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
}

/**
 * Read a file. Returns the bytes of a file, or one range of them, with an entity tag. Symbolic links are followed.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 412 ExpectationMismatch, 414 UrlTooLong, 416 RangeNotSatisfiable, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const readFile = (client: Client, input: ReadFileInput, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/files", bytes, input, options)

export interface InspectFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
}

/**
 * Inspect a file. Returns the headers with which a file would be read: its length, entity tag and mode.
 *
 * `HEAD /api/v2/workspaceagents/{workspaceagent}/files`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 412 ExpectationMismatch, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const inspectFile = (client: Client, input: InspectFileInput, options?: CallOptions): Promise<void> =>
  call(client, "HEAD", "/api/v2/workspaceagents/{workspaceagent}/files", nothing, input, options)

export interface WriteFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  /** a string matching the pattern ^[0-7]{1,4}$. At most 4096 characters. */
  readonly mode?: string | undefined
  readonly parents?: boolean | undefined
  readonly fsync?: boolean | undefined
  /** At most 4096 characters. */
  readonly offset?: string | undefined
  readonly contentType: "application/octet-stream"
  readonly body: Bytes
}

/**
 * Write a file. Writes the bytes of the request beside a file, and gives them its name once all are there. `If-Match` and `If-None-Match` are held to. With `offset`, the bytes are added to the end of the file.
 *
 * `PUT /api/v2/workspaceagents/{workspaceagent}/files`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 412 ExpectationMismatch, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const writeFile = (client: Client, input: WriteFileInput, options?: CallOptions): Promise<FileEntry> =>
  call(client, "PUT", "/api/v2/workspaceagents/{workspaceagent}/files", json, input, options)

export interface DeleteFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  readonly recursive?: boolean | undefined
}

/**
 * Delete a file. Deletes a file, a symbolic link itself, an empty directory, or on request a directory with all that it holds.
 *
 * `DELETE /api/v2/workspaceagents/{workspaceagent}/files`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 412 ExpectationMismatch, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const deleteFile = (client: Client, input: DeleteFileInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaceagents/{workspaceagent}/files", nothing, input, options)

export interface DescribeFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
}

/**
 * Describe a file. Returns what a path is. A symbolic link is described itself.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files/stat`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const describeFile = (client: Client, input: DescribeFileInput, options?: CallOptions): Promise<FileEntry> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/files/stat", json, input, options)

export interface ListFilesInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  /** At most 4096 characters. */
  readonly depth?: string | undefined
  /** At most 4096 characters. */
  readonly limit?: string | undefined
  /** At most 8192 characters. */
  readonly after?: string | undefined
}

/**
 * List a directory. Returns what is below a directory, in the order of the paths' bytes, in pages. Symbolic links are not followed.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files/list`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const listFiles = (client: Client, input: ListFilesInput, options?: CallOptions): Promise<FileList> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/files/list", json, input, options)

export interface MakeDirectoryInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly body: {
    /** At most 4096 characters. */
    readonly path: string
    readonly parents?: boolean | undefined
    /** a string matching the pattern ^[0-7]{1,4}$. */
    readonly mode?: string | undefined
  }
}

/**
 * Make a directory. Makes a directory, with `parents` also those above it. It may exist already then.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/files/directories`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const makeDirectory = (client: Client, input: MakeDirectoryInput, options?: CallOptions): Promise<FileEntry> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/files/directories", json, input, options)

export interface MoveFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly body: {
    /** At most 4096 characters. */
    readonly from: string
    /** At most 4096 characters. */
    readonly to: string
    readonly overwrite?: boolean | undefined
    readonly recursive?: boolean | undefined
  }
}

/**
 * Move a file. Gives a file, a symbolic link or a directory another path, also on another device.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/files/move`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const moveFile = (client: Client, input: MoveFileInput, options?: CallOptions): Promise<FileEntry> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/files/move", json, input, options)

export interface CopyFileInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly body: {
    /** At most 4096 characters. */
    readonly from: string
    /** At most 4096 characters. */
    readonly to: string
    readonly overwrite?: boolean | undefined
    readonly recursive?: boolean | undefined
  }
}

/**
 * Copy a file. Copies a file, a symbolic link as such, or with `recursive` a directory. Pipes, sockets and devices are left out.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/files/copy`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const copyFile = (client: Client, input: CopyFileInput, options?: CallOptions): Promise<FileEntry> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/files/copy", json, input, options)

export interface PackDirectoryInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
}

/**
 * Download a directory. Returns what a directory holds as a tar. Symbolic links are entries of their own.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files/archive`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const packDirectory = (client: Client, input: PackDirectoryInput, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/files/archive", bytes, input, options)

export interface UnpackDirectoryInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  readonly contentType: "application/x-tar"
  readonly body: Bytes
}

/**
 * Upload a directory. Unpacks a tar into a directory, which is made if it is missing. Nothing is written outside of it.
 *
 * `PUT /api/v2/workspaceagents/{workspaceagent}/files/archive`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const unpackDirectory = (client: Client, input: UnpackDirectoryInput, options?: CallOptions): Promise<UnpackedArchive> =>
  call(client, "PUT", "/api/v2/workspaceagents/{workspaceagent}/files/archive", json, input, options)

export interface FindFilesInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  /** At most 1024 characters. */
  readonly name?: string | undefined
  /** At most 1024 characters. */
  readonly content?: string | undefined
  /** At most 4096 characters. */
  readonly limit?: string | undefined
  /** Milliseconds. At most 4096 characters. */
  readonly timeout_ms?: string | undefined
}

/**
 * Find files. Returns the entries below a directory whose name matches, or the lines of its files that hold a text. Binary files are left out.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files/find`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const findFiles = (client: Client, input: FindFilesInput, options?: CallOptions): Promise<FileMatches> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/files/find", json, input, options)

export interface WatchFilesInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 4096 characters. */
  readonly path: string
  readonly recursive?: boolean | undefined
}

/**
 * Watch files. Sends what changes at a file or in a directory over a WebSocket.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/files/watch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const watchFiles = (client: Client, input: WatchFilesInput, options?: StreamOptions): AsyncGenerator<FileChanges, void, undefined> =>
  socketValues(client, "/api/v2/workspaceagents/{workspaceagent}/files/watch", input, again, options)
