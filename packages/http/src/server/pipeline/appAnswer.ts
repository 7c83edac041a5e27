import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, type Scope } from "effect"
import type { KnownHead } from "../request/KnownHead.js"
import type { NodeRequest } from "../connection/NodeRequest.js"
import type { RequestServices } from "../connection/RequestServices.js"
import type { AppPath } from "../request/appPath.js"
import { CurrentRequest, type RequestInfo } from "../request/CurrentRequest.js"
import type { RateLimiter } from "../request/RateLimiter.js"
import type { Admission, Admitted, AppServing, Outcomes } from "./AppServer.js"
import type { failureAnswer } from "./failures.js"

type Response = HttpServerResponse.HttpServerResponse

/** Characters of an app's address that tell it from others. */
const maximumAppKey = 512

/** What tells apps apart whose requests are counted: names are the same in either case. */
const appKey = ({ address }: AppPath): string => JSON.stringify(Object.values(address)).slice(0, maximumAppKey).toLowerCase()

/** What a listener does for requests that are answered without an effect. */
export interface DirectOutlet extends Pick<Outcomes, "end"> {
  /** Sends an answer whose body is a text, bytes or empty; false for others, and then nothing has begun. */
  readonly send: (request: NodeRequest, response: Response) => boolean
  /** Answers a request in a fiber after all. */
  readonly run: (
    request: NodeRequest,
    answer: Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest | Scope.Scope>,
    services?: RequestServices
  ) => void
}

/**
 * Answers requests to apps, whose own answers are passed on as they are. `isOwn` says whether the credential and the address of a request are all that
 * identifies its user, so that its admission may be kept.
 */
export const appAnswer = (
  { begin, failure, find, holds, keyOf, mayPass, pass, serve }: AppServing,
  limiter: RateLimiter["Type"],
  isOwn: (request: HttpServerRequest.HttpServerRequest, info: RequestInfo) => boolean,
  failed: ReturnType<typeof failureAnswer>
) => {
  type Respond = (response: Response) => Response

  /** As the router does with its routes: a client that goes ends what it has asked for. */
  const answered = <R>(
    answer: Effect.Effect<Response, never, R>,
    request: HttpServerRequest.HttpServerRequest,
    info: RequestInfo,
    respond: Respond
  ): Effect.Effect<Response, never, R> =>
    answer.pipe(
      Effect.interruptible,
      Effect.catchAllCause((cause) => Effect.map(failed(request, info, cause), respond))
    )

  /** The answer to a request that a limiter has let through. */
  const served = (
    request: HttpServerRequest.HttpServerRequest,
    info: RequestInfo,
    peer: string,
    app: AppPath,
    respond: Respond,
    kept: Admission | undefined,
    keep: ((admission: Admission) => void) | undefined
  ): Effect.Effect<Response, never, Scope.Scope> =>
    Effect.map(Effect.provideService(serve(request, info, peer, app, respond, kept, keep), CurrentRequest, info), (answer) => {
      info.counted?.end(answer.status)
      return answer
    })

  return {
    byEffect: (
      request: HttpServerRequest.HttpServerRequest,
      info: RequestInfo,
      peer: string,
      app: AppPath,
      identified: Effect.Effect<RequestInfo["user"]> | undefined,
      respond: Respond
    ): Effect.Effect<Response, never, Scope.Scope> =>
      answered(
        Effect.gen(function* () {
          const key = isOwn(request, info) ? keyOf(request, info, app) : undefined
          const kept = key === undefined ? undefined : find(key)
          // Before the user is identified, because the user's rights may end during that
          const keep = key === undefined || kept !== undefined ? undefined : begin(key)
          if (kept !== undefined) info.user = kept.user
          else if (identified !== undefined) info.user = yield* identified
          const limited = limiter.take("apps", info, appKey(app))
          if (limited !== undefined) return respond(limited)
          return yield* served(request, info, peer, app, respond, kept, keep)
        }),
        request,
        info,
        respond
      ),

    /** The admission of a request that may be answered without an effect. */
    admissionOf: (request: NodeRequest, info: RequestInfo, app: AppPath, known: KnownHead | undefined): Admission | undefined => {
      const caller = app.query === "" ? known?.caller : undefined
      const key = isOwn(request, info) ? (caller?.key ?? keyOf(request, info, app)) : undefined
      if (caller !== undefined) caller.key = key
      const kept = key === undefined ? undefined : holds(key)
      return kept !== undefined && mayPass(request, app, kept) ? kept : undefined
    },

    /** Answers such a request. `run` takes over where it needs an effect after all. */
    directly: (admitted: Admitted, respond: Respond, { end, run }: Pick<DirectOutlet, "end" | "run">): void => {
      const { admission, app, info, known, peer, request } = admitted
      const inFiber = (answer: Effect.Effect<Response, never, Scope.Scope>): void => {
        if (request.response.destroyed) info.counted?.end(undefined)
        else run(request, answered(answer, request, info, respond))
      }
      info.user = admission.user
      const counted = known?.counted ?? appKey(app)
      if (known !== undefined) known.counted = counted
      const limited = limiter.take("apps", info, counted)
      if (limited !== undefined) return inFiber(Effect.sync(() => respond(limited)))
      pass(admitted, {
        end,
        again: () => inFiber(served(request, info, peer, app, respond, admission, undefined)),
        failed: (error) => inFiber(Effect.map(failure(error), respond)),
        interrupted: () => inFiber(Effect.interrupt)
      })
    }
  }
}
