/** Reading and writing files with what the plain operations leave out: conditions, and progress. */
import type { Client, FileEntry } from "@atelier/client"
import * as files from "@atelier/client/files"
import { client } from "../../app/client.js"

export interface Place {
  readonly agent: string
  readonly path: string
}

/** What a write expects to be there: a version of the file, or none. Absent for whatever there is. */
export type Expected = { readonly etag: string } | { readonly none: true } | undefined

const conditionOf = (expected: Expected): Readonly<Record<string, string>> => {
  if (expected === undefined) return {}
  return "etag" in expected ? { "If-Match": expected.etag } : { "If-None-Match": "*" }
}

const under = (expected: Expected, of: Client): Client => ({
  ...of,
  headers: async () => ({ ...(await of.headers()), ...conditionOf(expected) })
})

/** The status of what would be too much for the page. RFC 9110 §15.5.14. */
export const tooLarge = 413

/** The bytes of a file, with the version that they are of. @throws AtelierError 413 for one with more bytes than that */
export const readVersion = async (
  maximum: number,
  { agent, path }: Place,
  signal: AbortSignal
): Promise<{ readonly bytes: Uint8Array; readonly etag: string }> => {
  let etag = ""
  const noting: Client = {
    ...client,
    fetch: async (url, init) => {
      const response = await client.fetch(url, init)
      etag = response.headers.get("ETag") ?? ""
      if (Number(response.headers.get("Content-Length")) <= maximum) return response
      await response.body?.cancel()
      return new Response(null, { status: tooLarge })
    }
  }
  const bytes = await files.readFile(noting, { workspaceagent: agent, path }, { signal })
  return { bytes, etag }
}

const contentType = "application/octet-stream"

/** Writes a file if it is as expected. @throws AtelierError 412 if it is not */
export const writeVersion = ({ agent, path }: Place, body: Uint8Array, expected: Expected): Promise<FileEntry> =>
  files.writeFile(under(expected, client), { workspaceagent: agent, path, contentType, body })

/** Sends a request and tells its progress, which `fetch` does not. */
const withProgress =
  (onProgress: (sent: number) => void): Client["fetch"] =>
  (url, { body, headers, method = "GET", signal }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      const abort = (): void => request.abort()
      request.open(method, url)
      request.responseType = "text"
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded))
      request.addEventListener("load", () => {
        const lines = request
          .getAllResponseHeaders()
          .trim()
          .split(/\r\n/)
          .filter((line) => line !== "")
        const answered = lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()])
        resolve(new Response(request.status === 204 ? null : request.responseText, { status: request.status, headers: answered }))
      })
      request.addEventListener("error", () => reject(new TypeError("The connection was lost.")))
      request.addEventListener("abort", () => reject(signal?.reason ?? new Error("The upload was ended.")))
      request.addEventListener("loadend", () => signal?.removeEventListener("abort", abort))
      signal?.addEventListener("abort", abort)
      // The bytes of a file are the only body that is sent so
      request.send(body instanceof Blob ? body : null)
    })

export interface UploadOptions {
  readonly expected: Expected
  readonly signal: AbortSignal
  /** Called with the bytes that were sent. */
  readonly onProgress: (sent: number) => void
}

/** Uploads a file, with the folders above it. @throws AtelierError 412 if there is one and none was expected */
export const upload = ({ agent, path }: Place, file: Blob, { expected, onProgress, signal }: UploadOptions): Promise<FileEntry> =>
  files.writeFile(
    { ...under(expected, client), fetch: withProgress(onProgress) },
    { workspaceagent: agent, path, parents: true, contentType, body: file },
    { signal }
  )
