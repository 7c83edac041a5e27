import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Refusal, type Response, responseOf, statusOf } from "../errors.js"
import { stringify } from "./json.js"

const contentType = "application/json; charset=utf-8"

/** A JSON response. identity.md §1.2. */
export const json = (status: number, body: unknown): HttpServerResponse.HttpServerResponse => {
  const text = stringify(body)
  // As text, so that head and body leave in one write
  return HttpServerResponse.raw(text, { status, contentType, contentLength: Buffer.byteLength(text) })
}

/** An answer that is only a message. */
export const message = (status: number, response: Response): HttpServerResponse.HttpServerResponse => json(status, response)

/** What a refusal is answered with. */
export const refuse = (refusal: Refusal): HttpServerResponse.HttpServerResponse =>
  refusal._tag === "NotModified" ? HttpServerResponse.empty({ status: statusOf(refusal) }) : json(statusOf(refusal), responseOf(refusal))

/** Plain text, for the few refusals that are not a `Response`. */
export const plain = (status: number, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(`${text}\n`, { status, contentType: "text/plain; charset=utf-8" })
