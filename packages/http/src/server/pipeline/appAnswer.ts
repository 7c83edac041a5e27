import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, type Scope } from "effect"
import type { AppPath } from "../request/appPath.js"
import { CurrentRequest, type RequestInfo } from "../request/CurrentRequest.js"
import type { RateLimiter } from "../request/RateLimiter.js"
import type { AppServing } from "./AppServer.js"
import type { failureAnswer } from "./failures.js"

type Response = HttpServerResponse.HttpServerResponse

/** Characters of an app's address that tell it from others. */
const maximumAppKey = 512

/** What tells apps apart whose requests are counted: names are the same in either case. */
const appKey = ({ address }: AppPath): string => JSON.stringify(Object.values(address)).slice(0, maximumAppKey).toLowerCase()

/**
 * Answers requests to apps, whose own answers are passed on as they are. `isOwn` says whether a request shows all that identifies its user, so that its
 * admission may be kept.
 */
export const appAnswer =
  (
    { begin, find, keyOf, serve }: AppServing,
    limiter: RateLimiter["Type"],
    isOwn: (info: RequestInfo) => boolean,
    failed: ReturnType<typeof failureAnswer>
  ) =>
  (
    request: HttpServerRequest.HttpServerRequest,
    info: RequestInfo,
    peer: string,
    app: AppPath,
    identified: Effect.Effect<RequestInfo["user"]> | undefined,
    respond: (response: Response) => Response
  ): Effect.Effect<Response, never, Scope.Scope> =>
    Effect.gen(function* () {
      const key = isOwn(info) ? keyOf(request, info, app) : undefined
      const kept = key === undefined ? undefined : find(key)
      // Before the user is identified, because the user's rights may end during that
      const keep = key === undefined || kept !== undefined ? undefined : begin(key)
      if (kept !== undefined) info.user = kept.user
      else if (identified !== undefined) info.user = yield* identified
      const limited = limiter.take("apps", info, appKey(app))
      if (limited !== undefined) return respond(limited)
      const answer = yield* Effect.provideService(serve(request, info, peer, app, respond, kept, keep), CurrentRequest, info)
      info.counted?.end(answer.status)
      return answer
    }).pipe(
      // As the router does with its routes: a client that goes ends what it has asked for
      Effect.interruptible,
      Effect.catchAllCause((cause) => Effect.map(failed(request, info, cause), respond))
    )
