/** Bodies of pages and the files that pages load, compressed where the browser takes it. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { kept } from "../server/pipeline/kept.js"

/** Seconds for which browsers need not ask again for a file: a day. An update of the service may bring other ones. */
const cacheSeconds = 86_400

const compress = promisify(gzip)

/** Bytes as they are, and compressed. */
export interface Compressible {
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
}

export const compressible = (plain: Uint8Array): Effect.Effect<Compressible> =>
  Effect.map(
    Effect.promise(() => compress(plain)),
    (gzip) => ({ plain, gzip })
  )

/** Whether a request takes gzip (RFC 9110 §12.5.3). */
const takesGzip = (request: HttpServerRequest.HttpServerRequest): boolean =>
  (request.headers["accept-encoding"] ?? "")
    .split(",")
    .some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(coding))

/** Answers with bytes in the coding that the request takes. */
export const bytes = (
  request: HttpServerRequest.HttpServerRequest,
  { gzip, plain }: Compressible,
  contentType: string,
  headers: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse => {
  const vary = { ...headers, vary: "Accept-Encoding, Origin, Cookie" }
  return takesGzip(request)
    ? HttpServerResponse.uint8Array(gzip, { headers: { ...vary, "content-encoding": "gzip" }, contentType })
    : HttpServerResponse.uint8Array(plain, { headers: vary, contentType })
}

/** A file of a package, by the name that pages load it by. */
export interface PackagedFile {
  readonly path: string
  readonly contentType: string
}

const read = (path: string) =>
  Effect.gen(function* () {
    const content = yield* Effect.promise(() => readFile(path))
    return { ...(yield* compressible(content)), etag: `"${createHash("sha256").update(content).digest("base64url")}"` }
  })

/** Answers requests for files of packages, which are read when they are first asked for; undefined for another name. */
export const packagedFiles = (files: Readonly<Record<string, PackagedFile>>, headers: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.forEach(Object.entries(files), ([name, { contentType, path }]) =>
      Effect.map(kept(read(path)), (content) => [name, { content, contentType }] as const)
    ),
    (entries) => {
      const known = new Map(entries)
      return (
        request: HttpServerRequest.HttpServerRequest,
        name: string
      ): Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined => {
        const file = known.get(name)
        if (file === undefined) return undefined
        return Effect.map(file.content, (content) => {
          // Not for caches that users share: each response may set a cookie
          const cached = { ...headers, etag: content.etag, "cache-control": `private, max-age=${cacheSeconds}` }
          return request.headers["if-none-match"]?.includes(content.etag) === true
            ? HttpServerResponse.empty({ status: 304, headers: cached })
            : bytes(request, content, file.contentType, cached)
        })
      }
    }
  )
