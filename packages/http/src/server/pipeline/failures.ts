/** What a request is answered with that fails otherwise than its endpoint declares. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type StoreUnavailable, storeUnavailable } from "@atelier/core/platform"
import { Cause, Effect, Option, Stream } from "effect"
import { InternalError, StorageFull, Unavailable } from "../../wire/errors.js"
import { refuseAt } from "../codec/respond.js"
import { withStream } from "../connection/withStream.js"
import type { StoreFaults } from "../operate/StoreFaults.js"
import type { RequestInfo } from "../request/CurrentRequest.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Seconds after which a request is worth another try. */
const retryAfter = 5

/** The answer to a request that may succeed in a moment. */
export const refuseForNow = (path: string, refusal: Unavailable): Response =>
  HttpServerResponse.setHeader(refuseAt(path, refusal), "retry-after", String(retryAfter))

/** An answer to a request that needs a store which cannot answer now: nothing has been changed, or all of it. */
const withoutStore = (path: string, unavailable: StoreUnavailable, message: string): Response =>
  unavailable.reason === "full" ? refuseAt(path, new StorageFull({ message })) : refuseForNow(path, new Unavailable({ message }))

const inLog = (request: Request, { id, path }: RequestInfo) => ({
  request_id: id,
  method: request.method,
  path
})

/** Answers a defect with 500 and a log line, and a store that is away with 503. A client that goes ends its request without an answer. */
export const failureAnswer =
  (faults: StoreFaults["Type"]) =>
  (request: Request, info: RequestInfo, cause: Cause.Cause<never>): Effect.Effect<Response> => {
    if (Cause.isInterruptedOnly(cause)) {
      info.counted?.end(undefined)
      return Effect.failCause(Cause.flatMap(cause, () => Cause.empty))
    }
    const unavailable = storeUnavailable(cause)
    if (Option.isSome(unavailable))
      return Effect.as(faults.note(unavailable.value), withoutStore(info.path, unavailable.value, faults.textOf(unavailable.value)))
    return Effect.as(
      Effect.annotateLogs(Effect.logError("a request failed", cause), inLog(request, info)),
      refuseAt(
        info.path,
        new InternalError({ message: "An internal error occurred.", detail: `The service's log has it as request ${info.id}.` })
      )
    )
  }

/** The response with a log line for a stream that fails after its head was sent. */
export const loggingBody = (request: Request, info: RequestInfo, response: Response): Response =>
  withStream(
    response,
    Stream.tapErrorCause((cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.void
        : Effect.annotateLogs(Effect.logError("a response failed on its way", cause), inLog(request, info))
    )
  )
