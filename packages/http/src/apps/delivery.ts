/** How bytes pass from a client to a program beside an agent, and back, without being held. agents-and-apps.md §19. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect } from "effect"
import { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import type { AppResponse } from "./forward.js"
import { NodeRequest } from "../server/connection/NodeRequest.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The head of an answer. Headers with several texts are lists. */
export type Headers = Record<string, string | ReadonlyArray<string>>

/** The body of a client's request. */
export const bodyOf = (request: Request) =>
  request.source instanceof IncomingMessage
    ? Effect.succeed(request.source)
    : Effect.map(NodeStream.toReadable(request.stream), (stream) => Readable.from(stream))

/** The answer as the client gets it. */
export const delivered = (request: Request, headers: Headers, { body: source, status }: Pick<AppResponse, "body" | "status">): Response => {
  if (request instanceof NodeRequest) {
    // Each part of the service that waits for the response's end listens to it
    request.response.setMaxListeners(20)
    const raw = HttpServerResponse.raw(source, { status })
    // Node sends a header with several texts as several lines, which `HttpServerResponse.raw` would join
    return Object.assign(Object.create(Object.getPrototypeOf(raw)), raw, { headers })
  }
  const body = NodeStream.fromReadable<unknown, Uint8Array>(
    () => source,
    (error) => error
  )
  const flat = Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : value.join(", ")])
  return HttpServerResponse.stream(body, { status, headers: Object.fromEntries(flat) })
}
