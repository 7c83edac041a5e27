/** The files of a workspace. Paths are absolute or relative to the agent's directory. */
import { AtelierError } from "../AtelierError.js"
import {
  type Bytes,
  bytes,
  call,
  type CallOptions,
  type Input,
  json,
  type Method,
  nothing,
  type Reader,
  type RequestOptions,
  send,
  text
} from "../call.js"
import type { Client } from "../Client.js"
import type { FileEntry } from "../generated/types.js"
import { socketValues } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"

export interface WriteOptions extends CallOptions {
  /** Octal, such as `0755`. */
  readonly mode?: string | undefined
  /** Makes the directories above the file; default true. */
  readonly parents?: boolean | undefined
  /** Writes only if the file still has this `etag`; fails with 412 otherwise. */
  readonly ifMatch?: string | undefined
  /** Writes only if there is no file; fails with 412 otherwise. */
  readonly ifMissing?: boolean | undefined
  /** Adds the bytes to a file that has this many. Fails with 412 if it has another number; what has arrived of a write that breaks off stays. */
  readonly offset?: number | undefined
}

/** A range of a file, in bytes; `end` is not part of it. */
export interface ReadOptions extends CallOptions {
  readonly start?: number | undefined
  readonly end?: number | undefined
}

export interface FindInput {
  /** Of the directory; the agent's unless given. */
  readonly path?: string | undefined
  /** A pattern of names, such as `*.ts`. */
  readonly name?: string | undefined
  /** A text in the files. */
  readonly content?: string | undefined
  readonly limit?: number | undefined
}

export interface FoundFiles {
  readonly matches: ReadonlyArray<{ readonly path: string; readonly line?: number; readonly text?: string }>
  readonly truncated: boolean
}

/** Changes of files. `overflow` says that more happened than is told: read the directory again. */
export interface FileEvents {
  readonly events?: ReadonlyArray<{ readonly path: string; readonly kind: "created" | "changed" | "deleted" }>
  readonly type?: "overflow"
}

export interface SandboxFiles {
  /** Writes a file whole, or leaves the old one. Returns what it is then. */
  readonly write: (path: string, data: string | Bytes | ReadableStream<Uint8Array>, options?: WriteOptions) => Promise<FileEntry>
  /** @throws AtelierError 404 if there is no such file, 409 for a directory */
  readonly read: (path: string, options?: ReadOptions) => Promise<Uint8Array>
  readonly text: (path: string, options?: ReadOptions) => Promise<string>
  /** Reads a file as it comes. */
  readonly stream: (path: string, options?: ReadOptions) => Promise<ReadableStream<Uint8Array>>
  /** All entries below a directory, to a depth; default 1. */
  readonly list: (path?: string, options?: { readonly depth?: number } & CallOptions) => Promise<ReadonlyArray<FileEntry>>
  readonly stat: (path: string, options?: CallOptions) => Promise<FileEntry>
  readonly exists: (path: string, options?: CallOptions) => Promise<boolean>
  readonly remove: (path: string, options?: { readonly recursive?: boolean } & CallOptions) => Promise<void>
  readonly move: (from: string, to: string, options?: { readonly overwrite?: boolean } & CallOptions) => Promise<FileEntry>
  readonly copy: (
    from: string,
    to: string,
    options?: { readonly overwrite?: boolean; readonly recursive?: boolean } & CallOptions
  ) => Promise<FileEntry>
  /** Makes a directory, and with `parents`, which is the default, those above it. */
  readonly mkdir: (path: string, options?: { readonly parents?: boolean; readonly mode?: string } & CallOptions) => Promise<FileEntry>
  readonly find: (input: FindInput, options?: CallOptions) => Promise<FoundFiles>
  /** Follows changes until the loop is left. After a lost connection, changes in between are not told. */
  readonly watch: (path?: string, options?: { readonly recursive?: boolean } & StreamOptions) => AsyncGenerator<FileEvents, void, undefined>
  /** Unpacks a tar archive into a directory. */
  readonly upload: (
    path: string,
    archive: Bytes | ReadableStream<Uint8Array>,
    options?: CallOptions
  ) => Promise<{ readonly entries: number; readonly bytes: number }>
  /** Packs a directory as a tar archive. */
  readonly download: (path: string, options?: CallOptions) => Promise<ReadableStream<Uint8Array>>
}

const root = "/api/v2/workspaceagents/{workspaceagent}/files"

/** Entries of one request. */
const pageSize = 1_000

const isOffset = (value: number | undefined): boolean => value === undefined || (Number.isSafeInteger(value) && value >= 0)

const isEmpty = ({ end, start = 0 }: ReadOptions): boolean => end !== undefined && end <= start

const rangeOf = ({ end, signal, start }: ReadOptions): RequestOptions => {
  if (start === undefined && end === undefined) return { signal }
  return { signal, headers: { Range: `bytes=${start ?? 0}-${end === undefined ? "" : end - 1}` } }
}

const bodyOf = (response: Response): ReadableStream<Uint8Array> => {
  const { body } = response
  if (body === null) throw new AtelierError({ status: response.status, message: "The answer has no body." })
  return body
}

export const filesOf = (client: Client, workspaceagent: string): SandboxFiles => {
  const ask = <A>(method: Method, place: string, read: Reader, input: Input, options?: RequestOptions): Promise<A> =>
    call(client, method, root + place, read, { workspaceagent, ...input }, options)

  /** Reads a range. HTTP has none without bytes: the first byte of the file is read then, so that a missing file is an error. */
  const ranged = async <A>(path: string, options: ReadOptions = {}, read: Reader, none: () => A): Promise<A> => {
    if (!isOffset(options.start) || !isOffset(options.end)) throw new RangeError("start and end: must be integers that are not negative")
    if (!isEmpty(options)) return ask("GET", "", read, { path }, rangeOf(options))
    await ask("GET", "", nothing, { path }, rangeOf({ signal: options.signal, start: 0, end: 1 })).catch((error: unknown) => {
      if (!(error instanceof AtelierError) || error.status !== 416) throw error
    })
    return none()
  }

  return {
    write: (path, data, { ifMatch, ifMissing, mode, offset, parents = true, signal } = {}) => {
      const body = typeof data === "string" ? new TextEncoder().encode(data) : data
      const headers = { ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }), ...(ifMissing === true ? { "If-None-Match": "*" } : {}) }
      return ask("PUT", "", json, { path, mode, parents, offset, body, contentType: "application/octet-stream" }, { signal, headers })
    },
    read: (path, options) => ranged(path, options, bytes, () => new Uint8Array()),
    text: (path, options) => ranged(path, options, text, () => ""),
    stream: (path, options) =>
      ranged(
        path,
        options,
        async (response) => bodyOf(response),
        () => new Blob().stream()
      ),
    list: async (path = ".", { depth, ...options } = {}) => {
      const entries: Array<FileEntry> = []
      for (let after: string | undefined; ;) {
        const page: { readonly entries: ReadonlyArray<FileEntry>; readonly next?: string } = await ask(
          "GET",
          "/list",
          json,
          { path, depth, limit: pageSize, after },
          options
        )
        entries.push(...page.entries)
        if (page.next === undefined) return entries
        after = page.next
      }
    },
    stat: (path, options) => ask("GET", "/stat", json, { path }, options),
    exists: async (path, options) => {
      try {
        await ask("GET", "/stat", nothing, { path }, options)
        return true
      } catch (error) {
        if (error instanceof AtelierError && error.status === 404) return false
        throw error
      }
    },
    remove: (path, { recursive, ...options } = {}) => ask("DELETE", "", nothing, { path, recursive }, options),
    move: (from, to, { overwrite, ...options } = {}) => ask("POST", "/move", json, { body: { from, to, overwrite } }, options),
    copy: (from, to, { overwrite, recursive, ...options } = {}) =>
      ask("POST", "/copy", json, { body: { from, to, overwrite, recursive } }, options),
    mkdir: (path, { mode, parents = true, ...options } = {}) =>
      ask("POST", "/directories", json, { body: { path, parents, mode } }, options),
    find: ({ path = ".", ...input }, options) => ask("GET", "/find", json, { path, ...input }, options),
    watch: (path = ".", { recursive, ...options } = {}) =>
      socketValues(client, `${root}/watch`, { workspaceagent, path, recursive }, again, options),
    upload: (path, archive, options) => ask("PUT", "/archive", json, { path, body: archive, contentType: "application/x-tar" }, options),
    download: async (path, options) => bodyOf(await send(client, "GET", `${root}/archive`, { workspaceagent, path }, options))
  }
}
