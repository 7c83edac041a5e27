/**
 * The steps of every request before and after its endpoint. identity.md §1.1.
 *
 * It is one effect around the router: everything that needs no service is decided in one synchronous step, and the response's headers are
 * set at once.
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { makeRecording } from "@atelier/core/access"
import { DeploymentOptions, Entitlements } from "@atelier/core/deployment"
import { doneWith, flat, type Forbidden, type Unauthenticated, Uuid } from "@atelier/core/platform"
import { Cause, Effect, Either, Exit, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { Route } from "../../contract/Route.js"
import type { Unavailable } from "../../wire/errors.js"
import { refuseAt } from "../codec/respond.js"
import { type KnownHead, KnownHeads } from "../request/KnownHead.js"
import type { NodeRequest } from "../connection/NodeRequest.js"
import { cookieOf, credentialReader } from "../credentials/Credential.js"
import { UserCredentials } from "../credentials/Credentials.js"
import { HostSessions } from "../credentials/HostSessions.js"
import { TrustedSessions } from "../credentials/TrustedSessions.js"
import { licenseWarnings } from "../operate/LicenseWarnings.js"
import { appPath, consolePath, requestMetrics } from "../operate/RequestMetrics.js"
import { StoreFaults } from "../operate/StoreFaults.js"
import { type AppPath, noApp } from "../request/appPath.js"
import { isForUser } from "../request/audience.js"
import { clientAddressOf } from "../request/ClientAddress.js"
import { preflightHeaders } from "../request/Cors.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import { RateLimiter } from "../request/RateLimiter.js"
import { redirection } from "../request/Redirect.js"
import { type HttpSettings, Settings } from "../request/Settings.js"
import { type Target, targetReader } from "../request/Target.js"
import type { Visit } from "../request/Visit.js"
import { appAnswer, type DirectOutlet } from "./appAnswer.js"
import { type Arrival, attempt, entrances } from "./entrances.js"
import { isTerminal, routeAnswer } from "./routeAnswer.js"
import { AppServer } from "./AppServer.js"
import { failureAnswer, loggingBody } from "./failures.js"
import { refusePath, routeFinder } from "./routeFinder.js"
import { finisher } from "./Finish.js"
import { identification } from "./identification.js"
import { isTooLong, refusalByHead, refuseUrl } from "./headRefusals.js"
import type { Answer, Routes } from "./Routes.js"
import type { Unrouted } from "./Unrouted.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type App = Effect.Effect<Response, never, Request | Scope.Scope>

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD"

/** The session that a browser has for apps alone. */
const appCookieOf = (request: Request, { address }: AppPath, names: HttpSettings["names"]): string | undefined =>
  cookieOf(request, address.access_method === "path" ? names.pathAppCookie : names.subdomainAppCookie)

/** The answer to a browser that asks whether a page of another origin may send a request; undefined for other requests. */
const preflight = ({ headers, method }: Request, path: string, cors: HttpSettings["cors"]): Response | undefined => {
  const preflighted = headers["access-control-request-method"]
  if (method !== "OPTIONS" || preflighted === undefined) return undefined
  const { "access-control-request-headers": asked, origin } = headers
  return HttpServerResponse.empty({ status: 200, headers: preflightHeaders(cors, { path, origin, method: preflighted, headers: asked }) })
}

/** Returns what is known of a request before its first step. `isRecording` says whether its answer lists the rights that were judged. */
const infoReader = (settings: HttpSettings, isRecording: boolean) => {
  const readCredential = credentialReader(settings)
  const clientAddress = clientAddressOf(settings.trustedProxies)
  const credentialOf = (request: Request, target: Target, app: AppPath | undefined): string | undefined =>
    (app && appCookieOf(request, app, settings.names)) ?? readCredential(request, target.query)
  return (
    request: Request,
    target: Target,
    peer: string,
    visit: Visit | undefined,
    app: AppPath | undefined,
    known?: KnownHead
  ): RequestInfo => ({
    id: visit?.requestId ?? Uuid.Uuid.make(flat(randomUUID()), { disableValidation: true }),
    ip: visit?.ip ?? known?.ip ?? clientAddress(peer, request.headers),
    userAgent: request.headers["user-agent"] ?? "",
    visit,
    path: target.path,
    credential: known?.caller !== undefined && target.query === "" ? known.caller.credential : credentialOf(request, target, app),
    user: undefined,
    quota: undefined,
    unlimited: false,
    csrfToken: undefined,
    shared: false,
    refused: undefined,
    checks: isRecording ? makeRecording() : undefined,
    params: {},
    routed: false,
    malformed: false,
    counted: undefined
  })
}

/** The whole interface. `answerOf` returns what answers a route, or loads it first. `unrouted` answers at paths that no route has. */
export const make = (routes: Routes, answerOf: (route: Route) => Answer | Effect.Effect<Answer, Unavailable>, unrouted: Unrouted) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const limiter = yield* RateLimiter
    const apps = yield* AppServer
    const { enableAuthzRecordings } = yield* DeploymentOptions
    const infoOf = infoReader(settings, enableAuthzRecordings)
    const redirect = redirection(settings)
    const targetOf = targetReader(settings.basePath, routes.isOwn)
    const count = requestMetrics()
    const finish = finisher(settings, yield* licenseWarnings(yield* Entitlements))
    const failed = failureAnswer(yield* StoreFaults, unrouted.failure)
    const { identify, isOwn } = identification(yield* UserCredentials, yield* HostSessions, yield* TrustedSessions)
    const routeOf = routeFinder(routes)
    const heads = new KnownHeads()
    const answerByRoute = routeAnswer(settings, limiter, routes, answerOf)
    const answerByApp = apps === undefined ? undefined : appAnswer(apps, limiter, isOwn, failed)

    const refusedVisit = (request: Request, info: RequestInfo, cause: Cause.Cause<Unauthenticated | Forbidden>): Effect.Effect<Response> =>
      Either.match(Cause.failureOrCause(cause), {
        onLeft: (refusal) => Effect.succeed(refuseAt(info.path, refusal)),
        onRight: (defect) => failed(request, info, defect)
      })

    const responder =
      (request: Request, info: RequestInfo) =>
      (response: Response): Response => {
        info.counted?.end(response.status)
        return finish(request, info, loggingBody(request, info, response))
      }

    /** Answers a request. The effect of a direct one is its answer already where that took none. */
    const begin = ({ isDirect, named, peer, request, services, visiting }: Arrival): App => {
      const target = targetOf(request.url)
      const isUnread = isTooLong(request)
      const visit = visiting !== undefined && Exit.isSuccess(visiting) ? visiting.value : undefined
      const app = named === noApp ? undefined : named
      const isServed = visiting === undefined || isTerminal(target.path)
      const found = isUnread || named !== undefined ? undefined : isServed ? routeOf(request.method, target) : refusePath(target.path)
      const isLost = found !== undefined && !("route" in found) && found.status === 404 && visiting === undefined
      const ofConsole = isLost && unrouted.owns(target.path) ? consolePath : undefined
      const pattern = named !== undefined ? appPath : found !== undefined && "route" in found ? found.route.pattern : ofConsole
      const info = infoOf(request, target, peer, visit, app)
      if (!isUnread) info.counted = count(request.method, pattern)
      const respond = responder(request, info)
      if (isUnread) return Effect.succeed(respond(refuseUrl(info.path)))
      const bad = refusalByHead(request, info.path)
      if (bad !== undefined) return Effect.succeed(respond(bad))
      if (visiting !== undefined && Exit.isFailure(visiting)) return Effect.map(refusedVisit(request, info, visiting.cause), respond)
      if (named === noApp && apps !== undefined) return Effect.map(apps.noApp(request), respond)
      const isAppHost = app?.address.access_method === "subdomain"
      const redirected = isAppHost || visit !== undefined ? undefined : redirect(request, target.path, peer)
      if (redirected !== undefined) return Effect.succeed(respond(redirected))
      const preflighted = isAppHost ? undefined : preflight(request, target.path, settings.cors)
      if (preflighted !== undefined) return Effect.succeed(respond(preflighted))
      const file = isLost ? unrouted.file(request, target.path) : undefined
      if (file !== undefined) {
        info.shared = true
        return Effect.map(
          Effect.catchAllCause(file, (cause) => failed(request, info, cause)),
          respond
        )
      }
      const shown = isLost && isRead(request) && isForUser(request, target.path) ? unrouted.page : undefined
      // The user of a request to an app is not identified before its admission begins
      const isAtOnce = isDirect && app === undefined
      const identified =
        shown === undefined || unrouted.isPersonal(target.path) ? identify(request, info, app, shown !== undefined, isAtOnce) : undefined
      if (answerByApp !== undefined && app !== undefined) return answerByApp.byEffect(request, info, peer, app, identified, respond)
      if (found === undefined) return Effect.dieMessage("a request that is for no app has a route or a refusal")
      const answer = (): App =>
        shown === undefined ? answerByRoute(request, target, info, found, services, isDirect) : shown(request, info, target.path)
      if (isDirect && identified !== undefined) info.user = doneWith(identified)
      const answered =
        identified === undefined || info.user !== undefined
          ? isDirect
            ? attempt(answer)
            : Effect.suspend(answer)
          : Effect.flatMap(identified, (user) => {
              info.user = user
              return answer()
            })
      const done = doneWith(answered)
      if (done !== undefined) return Effect.succeed(respond(done))
      return Effect.matchCauseEffect(answered, {
        onFailure: (cause) => Effect.map(failed(request, info, cause), respond),
        onSuccess: (response) => Effect.succeed(respond(response))
      })
    }

    /** Takes the same steps for a request to an app whose admission is kept, and begins nothing for others. */
    const directByApp = (request: NodeRequest, peer: string, app: AppPath, same: KnownHead | undefined, outlet: DirectOutlet): boolean => {
      if (answerByApp === undefined || isTooLong(request)) return false
      const target = targetOf(request.url)
      // An equal head was let through
      if (same === undefined && refusalByHead(request, target.path) !== undefined) return false
      if (same === undefined && app.address.access_method === "path" && redirect(request, target.path, peer) !== undefined) return false
      const info = infoOf(request, target, peer, undefined, app, same)
      const known = same ?? heads.keep(request.source, app)
      if (known !== undefined) known.ip = info.ip
      if (known !== undefined && target.query === "") known.caller ??= { credential: info.credential, key: undefined }
      const admission = answerByApp.admissionOf(request, info, app, known)
      if (admission === undefined) return false
      info.counted = count(request.method, appPath)
      answerByApp.directly({ request, info, peer, app, admission, known }, responder(request, info), outlet)
      return true
    }

    return entrances(apps, heads, begin, directByApp)
  })
