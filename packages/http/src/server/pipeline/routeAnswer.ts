/** The last steps before an endpoint: what its caller may not do is refused, and what its path names is added to the request's services. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CheckRecorder, roleNames } from "@atelier/core/access"
import { Invalid } from "@atelier/core/platform"
import { Effect, type Scope, Tracer } from "effect"
import type { Route } from "../../contract/Route.js"
import type { Unavailable } from "../../wire/errors.js"
import { isTrue } from "../../wire/input.js"
import { message, refuse } from "../codec/respond.js"
import { runWith } from "../connection/RequestServices.js"
import { forgeryCheck } from "../credentials/Csrf.js"
import { CurrentRequest, type RequestInfo } from "../request/CurrentRequest.js"
import type { RateLimiter } from "../request/RateLimiter.js"
import type { HttpSettings } from "../request/Settings.js"
import type { Target } from "../request/Target.js"
import { refuseForNow } from "./failures.js"
import { lostAnswer } from "./lostAnswer.js"
import { pathObjects } from "./pathObjects.js"
import type { Answer, Match, Routes } from "./Routes.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Where calls are counted. */
const isLimited = (path: string): boolean => path.startsWith("/api/v2") || path.startsWith("/api/experimental")

/** The path of a terminal: workspace proxies pass on requests for terminals, like those for apps. */
export const isTerminal = (path: string): boolean => /^\/api\/v2\/workspaceagents\/[^/]+\/pty$/.test(path)

/** Whether the request has a span that can be added to. */
const isSpan = (value: unknown): value is Tracer.Span =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Span"

/** Decides with the credential at hand; undefined lets the endpoint answer. */
const callerRefusal = (settings: HttpSettings, limiter: RateLimiter["Type"]) => {
  const forgeryOf = forgeryCheck(settings)
  const bypassHeader = settings.names.bypassRateLimitHeader.toLowerCase()
  return (request: Request, target: Target, info: RequestInfo): Response | undefined => {
    const forgery = forgeryOf(request, target)
    if (forgery !== undefined) return refuse(new Invalid({ message: forgery }))
    if (!isLimited(target.path)) return undefined
    if (info.user?._tag === "Right" && isTrue(request.headers[bypassHeader])) {
      const isOwner = roleNames(info.user.right.subject).some(
        ({ name, organizationId }) => name === "owner" && organizationId === undefined
      )
      if (!isOwner) return message(428, { message: "Only owners may bypass the rate limit." })
      info.unlimited = true
    }
    return limiter.take(isTerminal(target.path) ? "apps" : "api", info)
  }
}

/** Answers requests by their routes: at once where that needs no effect and the request is a direct one. `answerOf` returns what answers a route, or loads it first. */
export const routeAnswer = (
  settings: HttpSettings,
  limiter: RateLimiter["Type"],
  routes: Pick<Routes, "callerAt" | "find">,
  answerOf: (route: Route) => Answer | Effect.Effect<Answer, Unavailable>
) => {
  const refusalOf = callerRefusal(settings, limiter)

  return (
    given: Request,
    target: Target,
    info: RequestInfo,
    found: Match | Response,
    services: Map<string, unknown>,
    isDirect: boolean
  ): Effect.Effect<Response, never, Request | Scope.Scope> => {
    const refusal = refusalOf(given, target, info)
    if (refusal !== undefined) return Effect.succeed(refusal)
    if (HttpServerResponse.isServerResponse(found)) return lostAnswer(routes, info, found)
    const { params, query, route, url } = found
    const request = url === given.url ? given : given.modify({ url })
    const span = services.get(Tracer.ParentSpan.key)
    if (isSpan(span)) span.attribute("http.route", route.path)
    info.params = params
    info.routed = true
    if (isDirect && info.checks === undefined) {
      const answer = answerOf(route)
      const response = Effect.isEffect(answer) ? undefined : answer.now?.({ request, info, params, query, services })
      if (response !== undefined) return Effect.succeed(response)
    }
    services.set(HttpServerRequest.HttpServerRequest.key, request)
    services.set(CurrentRequest.key, info)
    services.set(HttpServerRequest.ParsedSearchParams.key, query)
    if (info.checks !== undefined) services.set(CheckRecorder.key, info.checks)
    const answeredBy = ({ params, query, route }: Match, services: Map<string, unknown>) => {
      const run = (answer: Answer): Effect.Effect<Response, never, Request | Scope.Scope> =>
        runWith(services, () => answer({ request, info, params, query, services }))
      const answer = answerOf(route)
      if (!Effect.isEffect(answer)) return run(answer)
      return Effect.matchEffect(answer, { onFailure: (refused) => Effect.succeed(refuseForNow(info.path, refused)), onSuccess: run })
    }
    /** An object of the path that the caller does not find is told before the form of the request. */
    const objectsFirst = (malformed: Response) =>
      Effect.reduce(pathObjects(routes, found), malformed, (told, object) =>
        told === malformed
          ? Effect.map(answeredBy(object, new Map(services)), (shown) => (shown.status === 404 ? shown : told))
          : Effect.succeed(told)
      )
    return Effect.flatMap(answeredBy(found, services), (response) => (info.malformed ? objectsFirst(response) : Effect.succeed(response)))
  }
}
