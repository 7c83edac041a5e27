import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Stream } from "effect"

/** A response whose body is another stream, where it is one at all. */
export const withStream = (
  response: HttpServerResponse.HttpServerResponse,
  change: (body: Stream.Stream<Uint8Array, unknown>) => Stream.Stream<Uint8Array, unknown>
): HttpServerResponse.HttpServerResponse =>
  response.body._tag === "Stream"
    ? HttpServerResponse.setBody(
        response,
        HttpBody.stream(change(response.body.stream), response.body.contentType, response.body.contentLength)
      )
    : response
