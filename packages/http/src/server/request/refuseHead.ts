import type { IncomingMessage } from "node:http"

/** Headers of one request. Node drops those beyond this number, so a credential among them would be missed. */
const maximumHeaders = 1000

export interface HeadRefusal {
  readonly status: number
  readonly message: string
}

const tooMany: HeadRefusal = { status: 431, message: "The request has too many headers." }
const unknownCoding: HeadRefusal = { status: 501, message: "The request's transfer coding is not supported." }
const oneHost: HeadRefusal = { status: 400, message: "The request must have one Host header." }

/** Why a request is refused by its head alone, for rules that Node leaves to applications; undefined where it is not. */
export const refuseHead = ({ headers, httpVersion, rawHeaders }: IncomingMessage): HeadRefusal | undefined => {
  if (rawHeaders.length > 2 * maximumHeaders) return tooMany
  const coding = headers["transfer-encoding"]
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") return unknownCoding
  // RFC 9112 §3.2
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? oneHost : undefined
}
