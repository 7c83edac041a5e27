import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { IncomingMessage } from "node:http"
import { responseOf } from "../../wire/errors.js"
import { isScimPath, scimError } from "../../wire/scim.js"
import { json, refuseProvider } from "../codec/respond.js"
import { refuseHead } from "../request/refuseHead.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Characters of a URL. */
const maximumUrl = 16 * 1024
const urlTooLong = { message: "The URL is too long.", detail: `The maximum is ${maximumUrl} characters.` }

/** Whether a URL is longer than any is read. */
export const isTooLong = ({ url }: Request): boolean => url.length > maximumUrl

/** The answer to a request with such a URL, at its path. */
export const refuseUrl = (path: string): Response =>
  isScimPath(path) ? refuseProvider(scimError(414, `${urlTooLong.message} ${urlTooLong.detail}`)) : json(414, responseOf(urlTooLong))

/** The answer to a request that is refused by its head alone; undefined where it is not. Nothing more is read of its connection. */
export const refusalByHead = ({ source }: Request, path: string): Response | undefined => {
  const bad = source instanceof IncomingMessage ? refuseHead(source) : undefined
  if (bad === undefined) return undefined
  const { message, status } = bad
  const refused = isScimPath(path) ? refuseProvider(scimError(status, message)) : json(status, responseOf({ message }))
  return HttpServerResponse.setHeader(refused, "connection", "close")
}
