/** What a request is answered with that fails otherwise than its endpoint declares. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type StoreUnavailable, storeUnavailable } from "@atelier/core/platform"
import { Cause, Effect, Option, Stream } from "effect"
import { InternalError, StorageFull, Unavailable } from "../../wire/errors.js"
import { refuseAt } from "../codec/respond.js"
import { withStream } from "../connection/withStream.js"
import type { StoreFaults } from "../operate/StoreFaults.js"
import { isForUser } from "../request/audience.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import type { Failure, Unrouted } from "./Unrouted.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Seconds after which a request is worth another try. */
const retryAfter = 5

const toTryAgain = (response: Response): Response => HttpServerResponse.setHeader(response, "retry-after", String(retryAfter))

/** The answer to a request that may succeed in a moment. */
export const refuseForNow = (path: string, refusal: Unavailable): Response => toTryAgain(refuseAt(path, refusal))

/** Why a request fails that needs a store which cannot answer now: nothing has been changed, or all of it. */
const withoutStore = ({ reason }: StoreUnavailable, message: string): Failure =>
  reason === "full" ? new StorageFull({ message }) : new Unavailable({ message })

const inLog = (request: Request, { id, path }: RequestInfo) => ({
  request_id: id,
  method: request.method,
  path
})

/** Answers a defect with 500 and a log line, and a store that is away with 503. A client that goes ends its request without an answer. */
export const failureAnswer =
  (faults: StoreFaults["Type"], show: Unrouted["failure"]) =>
  (request: Request, info: RequestInfo, cause: Cause.Cause<never>): Effect.Effect<Response> => {
    if (Cause.isInterruptedOnly(cause)) {
      info.counted?.end(undefined)
      return Effect.failCause(Cause.flatMap(cause, () => Cause.empty))
    }
    const answer = (failure: Failure): Effect.Effect<Response> => {
      const isForNow = failure._tag === "Unavailable"
      if (show === undefined || !isForUser(request, info.path))
        return Effect.succeed(isForNow ? refuseForNow(info.path, failure) : refuseAt(info.path, failure))
      return Effect.map(show(failure), (page) => (isForNow ? toTryAgain(page) : page))
    }
    const unavailable = storeUnavailable(cause)
    if (Option.isSome(unavailable))
      return Effect.zipRight(faults.note(unavailable.value), answer(withoutStore(unavailable.value, faults.textOf(unavailable.value))))
    return Effect.zipRight(
      Effect.annotateLogs(Effect.logError("a request failed", cause), inLog(request, info)),
      answer(new InternalError({ message: "An internal error occurred.", detail: `The service's log has it as request ${info.id}.` }))
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
