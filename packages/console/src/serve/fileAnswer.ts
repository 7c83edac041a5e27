import type { SiteFile } from "./site.js"

/** An answer to a request for a file. */
export interface FileAnswer {
  readonly status: 200 | 304
  readonly headers: Readonly<Record<string, string>>
  /** The file below the folder whose bytes are the body; undefined for an answer without one. */
  readonly body: string | undefined
}

const endings = { br: ".br", gzip: ".gz" } as const

/** A year in seconds: what browsers take for ever. */
const year = 31_536_000

/** Whether `Accept-Encoding` takes a coding (RFC 9110 §12.5.3). */
const takes = (accepted: string, coding: string): boolean => {
  let any = false
  for (const item of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim())
    const isRefused = parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter))
    if (name === coding) return !isRefused
    if (name === "*") any = !isRefused
  }
  return any
}

/** Whether `If-None-Match` names a tag (RFC 9110 §13.1.2), strong or weak. */
export const matches = (given: string | undefined, tag: string): boolean =>
  given !== undefined && (given.trim() === "*" || given.split(",").some((one) => bare(one) === bare(tag)))

const bare = (tag: string): string => tag.trim().replace(/^W\//, "")

/** Answers `GET` and `HEAD` for a file. `header` returns a header of the request by its name in lower case. */
export const fileAnswer = (
  { encodings, hash, immutable, path, type }: SiteFile,
  method: string,
  header: (name: string) => string | undefined
): FileAnswer => {
  const accepted = header("accept-encoding") ?? ""
  const coding = encodings.find((one) => takes(accepted, one))
  // Each coding has bytes of its own, so a tag of its own
  const etag = `"${hash}${coding === undefined ? "" : `-${coding}`}"`
  const headers = {
    "cache-control": immutable ? `public, max-age=${year}, immutable` : "public, no-cache",
    etag,
    ...(encodings.length === 0 ? {} : { vary: "Accept-Encoding" })
  }
  if (matches(header("if-none-match"), etag)) return { status: 304, headers, body: undefined }
  return {
    status: 200,
    headers: { ...headers, "content-type": type, ...(coding === undefined ? {} : { "content-encoding": coding }) },
    body: method === "HEAD" ? undefined : `${path}${coding === undefined ? "" : endings[coding]}`
  }
}
