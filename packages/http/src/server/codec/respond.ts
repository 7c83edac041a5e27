import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Refusal, type Response, responseOf, statusOf } from "../../wire/errors.js"
import { isScimPath, scimContentType, type ScimError, scimErrorOf } from "../../wire/scim.js"
import { isOAuthPath, oauthErrorOf } from "./oauthErrors.js"
import { compact } from "./json.js"

const jsonType = "application/json; charset=utf-8"

/** A JSON response. identity.md §1.2. */
export const json = (status: number, body: unknown, contentType?: string): HttpServerResponse.HttpServerResponse =>
  jsonText(status, compact(body), contentType)

/** The response of a document that is written already. It is ended by a line feed. */
export const jsonText = (status: number, document: string, contentType: string = jsonType): HttpServerResponse.HttpServerResponse => {
  const text = `${document}\n`
  // As text, so that head and body leave in one write
  return HttpServerResponse.raw(text, { status, contentType, contentLength: Buffer.byteLength(text) })
}

/** An answer that is only a message. */
export const message = (status: number, response: Response): HttpServerResponse.HttpServerResponse => json(status, response)

/** The answer to a refusal. */
export const refuse = (refusal: Refusal): HttpServerResponse.HttpServerResponse =>
  refusal._tag === "NotModified" ? HttpServerResponse.empty({ status: statusOf(refusal) }) : json(statusOf(refusal), responseOf(refusal))

/** A refusal as identity providers read it. A caller without a key is told how to give one (RFC 9110 §15.5.2). */
export const refuseProvider = (error: ScimError): HttpServerResponse.HttpServerResponse => {
  const response = json(Number(error.status), error, scimContentType)
  return error.status === "401" ? HttpServerResponse.setHeader(response, "www-authenticate", 'Bearer realm="SCIM"') : response
}

/** The answer to a refusal at a path. */
export const refuseAt = (path: string, refusal: Refusal): HttpServerResponse.HttpServerResponse =>
  refusal._tag === "NotModified"
    ? refuse(refusal)
    : isScimPath(path)
      ? refuseProvider(scimErrorOf(refusal))
      : isOAuthPath(path)
        ? json(statusOf(refusal), oauthErrorOf(refusal))
        : refuse(refusal)
