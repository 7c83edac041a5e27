/**
 * The steps of every request before and after its endpoint. identity.md §1.1.
 *
 * It is one effect around the router: everything that needs no service is decided in one synchronous step, and the response's headers are
 * set at once.
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CheckRecorder, makeRecording, roleNames } from "@atelier/core/access"
import { DeploymentOptions, Entitlements } from "@atelier/core/deployment"
import { parseCredential } from "@atelier/core/identity"
import {
  type Forbidden,
  Invalid,
  NotAllowed,
  NotFound,
  type StoreUnavailable,
  storeUnavailable,
  type Unauthenticated,
  Uuid
} from "@atelier/core/platform"
import { Cause, Context, Effect, Either, Exit, FiberRef, Option, Redacted, type Scope, Stream, Tracer } from "effect"
import { randomUUID } from "node:crypto"
import { IncomingMessage } from "node:http"
import { AppServer, type AppServing } from "./AppServer.js"
import { type AppPath, noApp } from "../request/appPath.js"
import type { Visit } from "../request/Visit.js"
import { InternalError, responseOf, StorageFull, Unavailable } from "../../wire/errors.js"
import { isTrue } from "../../wire/input.js"
import { isScimPath, scimError } from "../../wire/scim.js"
import { clientAddressOf } from "../request/ClientAddress.js"
import { preflightHeaders } from "../request/Cors.js"
import { cookieOf, credentialReader, dpopTokenOf } from "../credentials/Credential.js"
import { UserCredentials } from "../credentials/Credentials.js"
import { forgeryCheck } from "../credentials/Csrf.js"
import { CurrentRequest, type RequestInfo } from "../request/CurrentRequest.js"
import { finisher } from "./Finish.js"
import { HostSessions } from "../credentials/HostSessions.js"
import { licenseWarnings } from "../operate/LicenseWarnings.js"
import { LiveBody, liveBodyOf } from "../connection/LiveBody.js"
import { PeerAddress } from "../connection/PeerAddress.js"
import { RateLimiter } from "../request/RateLimiter.js"
import { refuseHead } from "../request/refuseHead.js"
import { redirection } from "../request/Redirect.js"
import { appPath, requestMetrics } from "../operate/RequestMetrics.js"
import { json, message, refuse, refuseAt, refuseProvider } from "../codec/respond.js"
import { type Answer, type Match, routable, type Routes } from "./Routes.js"
import type { Route } from "../../contract/Route.js"
import { Settings } from "../request/Settings.js"
import { StoreFaults } from "../operate/StoreFaults.js"
import { withStream } from "../connection/withStream.js"
import { isWellEncoded, type Target, targetReader } from "../request/Target.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type App<E, R = Request | Scope.Scope> = Effect.Effect<Response, E, R>

/** Where calls are counted. */
const isLimited = (path: string): boolean => path.startsWith("/api/v2") || path.startsWith("/api/experimental")

/** The path of a terminal: workspace proxies pass on requests for terminals, like those for apps. */
const isTerminal = (path: string): boolean => /^\/api\/v2\/workspaceagents\/[^/]+\/pty$/.test(path)

/** Whose users a host names, beside apps: the interface, and the pages that a host with users of its own has. */
const hostPaths = /^\/(?:(?:api|oauth2|external-auth|gitauth)\/|@[^/]+\/[^/]+\/terminal\/?$)/

/** What tells apps apart whose requests are counted: names are the same in either case. */
const appKey = ({ address }: AppPath): string => JSON.stringify(Object.values(address)).slice(0, maximumAppKey).toLowerCase()

const notFound = new NotFound({ message: "Route not found." })
const badPath = new Invalid({ message: "The path is not valid." })
const notAllowed = new NotAllowed({ message: "The path does not have this method." })

/** Characters of an app's address that tell it from others. */
const maximumAppKey = 512

/** Characters of a URL. */
const maximumUrl = 16 * 1024
const urlTooLong = { message: "The URL is too long.", detail: `The maximum is ${maximumUrl} characters.` }

/** Whether the request has a span that can be added to. */
const isSpan = (value: unknown): value is Tracer.Span =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Span"

/** Paths that programs ask for, also with a browser's headers. */
const ofPrograms = /^\/(?:api|scim|derp|internal|oauth2|\.well-known)(?:\/|$)/

/** Whether an address that has no page is asked for by a browser, for a user to see. */
const isForUser = ({ headers, method }: Request, path: string): boolean =>
  method === "GET" && /\btext\/html\b/i.test(headers["accept"] ?? "") && !ofPrograms.test(path)

/** Seconds after which a request is worth another try. */
const retryAfter = 5

/** The whole interface. `answerOf` returns what answers a route, or loads it first. `lost` is what browsers see at an address without a page. */
export const make = (
  routes: Routes,
  answerOf: (route: Route) => Answer | Effect.Effect<Answer, Unavailable>,
  lost?: Effect.Effect<Response>
) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const users = yield* UserCredentials
    const host = yield* HostSessions
    const limiter = yield* RateLimiter
    const faults = yield* StoreFaults
    const readCredential = credentialReader(settings)
    const apps = yield* AppServer
    const forgeryOf = forgeryCheck(settings)
    const redirect = redirection(settings)
    const targetOf = targetReader(settings.basePath, routes.isOwn)
    const clientAddress = clientAddressOf(settings.trustedProxies)
    const { enableAuthzRecordings } = yield* DeploymentOptions
    const finish = finisher(settings, yield* licenseWarnings(yield* Entitlements))
    const count = requestMetrics()
    const bypassHeader = settings.names.bypassRateLimitHeader.toLowerCase()

    /** Whether a request shows all that identifies its user: a host with users of its own reads other parts of it. */
    const isOwn = ({ credential }: RequestInfo): boolean =>
      host === undefined || (credential !== undefined && parseCredential(credential) !== undefined)

    /** The user whose request it is: a credential of the service's own counts before what the host says. Undefined for agents and for none. */
    const identify = (request: Request, info: RequestInfo, app: AppPath | undefined): Effect.Effect<RequestInfo["user"]> | undefined => {
      const { credential, id, ip, path, userAgent } = info
      if (credential !== undefined && Uuid.isUuid(credential)) return undefined
      if (credential !== undefined && isOwn(info))
        return Effect.either(
          users.authenticate(
            Redacted.make(credential),
            // A path on a host of an app's own is in no part of the deployment
            { ip, userAgent, requestId: id, ...(app?.address.access_method === "subdomain" ? {} : { path }) },
            dpopTokenOf(request) === credential ? { request, method: request.method, path } : undefined
          )
        )
      return host !== undefined && (app !== undefined || hostPaths.test(path)) ? host.authenticate(request, info) : undefined
    }

    /** The session that a browser has for apps alone. */
    const appCookieOf = (request: Request, { address }: AppPath): string | undefined =>
      cookieOf(request, address.access_method === "path" ? settings.names.pathAppCookie : settings.names.subdomainAppCookie)

    /** Decides with the credential at hand; undefined lets the router answer. */
    const refuseCaller = (request: Request, target: Target, info: RequestInfo): Response | undefined => {
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

    /** Finds the route of a request; a response where it has none. */
    const routeOf = (method: string, { path, query }: Target): Match | Response => {
      if (!isWellEncoded(path)) return refuseAt(path, badPath)
      const isSlashed = path.length > 1 && path.endsWith("/") && !routes.isInSubtree(path)
      const plainPath = isSlashed ? path.slice(0, -1) : path
      if (isSlashed && !routes.allowsSlash(method, plainPath)) return refuseAt(path, notFound)
      const url = routable(plainPath)
      return routes.find(method, query === "" ? url : `${url}?${query}`) ?? unrouted(plainPath)
    }

    const unrouted = (path: string): Response => {
      const methods = routes.methodsOf(path)
      if (methods.length === 0) return refuseAt(path, notFound)
      return HttpServerResponse.setHeaders(refuseAt(path, notAllowed), { allow: methods.join(", ") })
    }

    /** Answers a request by its route. */
    const handle = (
      given: Request,
      target: Target,
      info: RequestInfo,
      found: Match | Response,
      services: Map<string, unknown>
    ): App<never> => {
      const refusal = refuseCaller(given, target, info)
      if (refusal !== undefined) return Effect.succeed(refusal)
      if (HttpServerResponse.isServerResponse(found)) return Effect.succeed(found)
      const { params, query, route, url } = found
      const request = url === given.url ? given : given.modify({ url })
      const span = services.get(Tracer.ParentSpan.key)
      if (isSpan(span)) span.attribute("http.route", route.path)
      info.params = params
      info.routed = true
      services.set(HttpServerRequest.HttpServerRequest.key, request)
      services.set(CurrentRequest.key, info)
      services.set(HttpServerRequest.ParsedSearchParams.key, query)
      if (info.checks !== undefined) services.set(CheckRecorder.key, info.checks)
      const run = (answer: Answer): App<never> => {
        const answered = answer({ request, info, params, query, services })
        return Effect.zipRight(FiberRef.set(FiberRef.currentContext, Context.unsafeMake(services)), answered)
      }
      const answer = answerOf(route)
      if (!Effect.isEffect(answer)) return run(answer)
      return Effect.matchEffect(answer, { onFailure: (refusal) => Effect.succeed(refuseForNow(info.path, refusal)), onSuccess: run })
    }

    const failed = (request: Request, info: RequestInfo, cause: Cause.Cause<never>): App<never, never> => {
      if (Cause.isInterruptedOnly(cause)) {
        // A client that goes ends its request without an answer
        info.counted?.end(undefined)
        return Effect.failCause(Cause.flatMap(cause, () => Cause.empty))
      }
      const unavailable = storeUnavailable(cause)
      if (Option.isSome(unavailable)) return Effect.as(faults.note(unavailable.value), withoutStore(info.path, unavailable.value))
      return Effect.as(
        Effect.annotateLogs(Effect.logError("a request failed", cause), { request_id: info.id, method: request.method, path: info.path }),
        refuseAt(
          info.path,
          new InternalError({ message: "An internal error occurred.", detail: `The service's log has it as request ${info.id}.` })
        )
      )
    }

    const refusedVisit = (request: Request, info: RequestInfo, cause: Cause.Cause<Unauthenticated | Forbidden>): App<never, never> =>
      Either.match(Cause.failureOrCause(cause), {
        onLeft: (refusal) => Effect.succeed(refuseAt(info.path, refusal)),
        onRight: (defect) => failed(request, info, defect)
      })

    /** An answer to a request that needs a store which cannot answer now: nothing has been changed, or all of it. */
    const withoutStore = (path: string, unavailable: StoreUnavailable): Response => {
      const message = faults.textOf(unavailable)
      return unavailable.reason === "full" ? refuseAt(path, new StorageFull({ message })) : refuseForNow(path, new Unavailable({ message }))
    }

    const refuseForNow = (path: string, refusal: Unavailable): Response =>
      HttpServerResponse.setHeader(refuseAt(path, refusal), "retry-after", String(retryAfter))

    /** Answers a request to an app, whose own answer is passed on as it is. */
    const serveApp = (
      { begin, find, keyOf, serve }: AppServing,
      request: Request,
      info: RequestInfo,
      peer: string,
      app: AppPath,
      identified: Effect.Effect<RequestInfo["user"]> | undefined,
      respond: (response: Response) => Response
    ): App<never, Scope.Scope> =>
      Effect.gen(function* () {
        const key = isOwn(info) ? keyOf(request, info, app) : undefined
        const kept = key === undefined ? undefined : find(key)
        // Before the user is identified, whose rights may end meanwhile
        const keep = key === undefined || kept !== undefined ? undefined : begin(key)
        if (kept !== undefined) info.user = kept.user
        else if (identified !== undefined) info.user = yield* identified
        const limited = limiter.take("apps", info, appKey(app))
        if (limited !== undefined) return respond(limited)
        const answer = yield* serve(request, info, peer, app, respond, kept, keep)
        info.counted?.end(answer.status)
        return answer
      }).pipe(
        // As the router does with its routes: a client that goes ends what it has asked for
        Effect.interruptible,
        Effect.catchAllCause((cause) => Effect.map(failed(request, info, cause), respond))
      )

    /** A body that fails after its head was sent is only logged */
    const told = (request: Request, info: RequestInfo, response: Response): Response => {
      const log = (cause: Cause.Cause<unknown>) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.annotateLogs(Effect.logError("a response failed on its way", cause), {
              request_id: info.id,
              method: request.method,
              path: info.path
            })
      const live = liveBodyOf(response)
      if (live === undefined) return withStream(response, Stream.tapErrorCause(log))
      const logged = new LiveBody((outlet) => Effect.onError(live.run(outlet), (cause) => log(cause)))
      return HttpServerResponse.setBody(response, HttpBody.raw(logged, { contentType: response.body.contentType }))
    }

    /** Answers a request; `visiting` says whose it is if a workspace proxy passes it on, or why the proxy may not. */
    const begin = (
      context: Context.Context<never>,
      request: Request,
      visiting: Exit.Exit<Visit, Unauthenticated | Forbidden> | undefined
    ): App<never> => {
      const services: Map<string, unknown> = new Map(context.unsafeMap)
      const peer = Option.getOrElse(request.remoteAddress, () => Context.get(context, PeerAddress))
      const target = targetOf(request.url)
      const isTooLong = request.url.length > maximumUrl
      const visit = visiting !== undefined && Exit.isSuccess(visiting) ? visiting.value : undefined
      const named = visiting === undefined ? apps?.appOf(request, peer) : visit?.named
      const app = named === noApp ? undefined : named
      const isServed = visiting === undefined || isTerminal(target.path)
      const found =
        isTooLong || named !== undefined ? undefined : isServed ? routeOf(request.method, target) : refuseAt(target.path, notFound)
      const pattern = named !== undefined ? appPath : found !== undefined && "route" in found ? found.route.pattern : undefined
      const info: RequestInfo = {
        id: Uuid.Uuid.make(randomUUID(), { disableValidation: true }),
        ip: visit?.ip ?? clientAddress(peer, request.headers),
        userAgent: request.headers["user-agent"] ?? "",
        visit,
        path: target.path,
        credential: (app && appCookieOf(request, app)) ?? readCredential(request, target.query),
        user: undefined,
        quota: undefined,
        unlimited: false,
        csrfToken: undefined,
        refused: undefined,
        checks: enableAuthzRecordings ? makeRecording() : undefined,
        params: {},
        routed: false,
        counted: isTooLong ? undefined : count(request.method, pattern)
      }
      const respond = (response: Response): Response => {
        info.counted?.end(response.status)
        return finish(request, info, told(request, info, response))
      }
      if (isTooLong) {
        const { detail, message } = urlTooLong
        return Effect.succeed(
          respond(isScimPath(info.path) ? refuseProvider(scimError(414, `${message} ${detail}`)) : json(414, responseOf(urlTooLong)))
        )
      }
      const badHead = request.source instanceof IncomingMessage ? refuseHead(request.source) : undefined
      if (badHead !== undefined) {
        const { message, status } = badHead
        const refused = isScimPath(info.path) ? refuseProvider(scimError(status, message)) : json(status, responseOf({ message }))
        return Effect.succeed(respond(HttpServerResponse.setHeader(refused, "connection", "close")))
      }
      if (visiting !== undefined && Exit.isFailure(visiting)) return Effect.map(refusedVisit(request, info, visiting.cause), respond)
      if (named === noApp && apps !== undefined) return Effect.map(apps.noApp(request), respond)
      const isAppHost = app?.address.access_method === "subdomain"
      const redirected = isAppHost || visit !== undefined ? undefined : redirect(request, target.path, peer)
      if (redirected !== undefined) return Effect.succeed(respond(redirected))
      const preflighted = request.headers["access-control-request-method"]
      if (!isAppHost && request.method === "OPTIONS" && preflighted !== undefined) {
        const { "access-control-request-headers": asked, origin } = request.headers
        const headers = preflightHeaders(settings.cors, { path: target.path, origin, method: preflighted, headers: asked })
        return Effect.succeed(respond(HttpServerResponse.empty({ status: 200, headers })))
      }
      const isLost = found !== undefined && !("route" in found) && found.status === 404
      if (lost !== undefined && isLost && visit === undefined && isForUser(request, target.path)) return Effect.map(lost, respond)
      const identified = identify(request, info, app)
      if (apps !== undefined && app !== undefined) return serveApp(apps, request, info, peer, app, identified, respond)
      if (found === undefined) return Effect.dieMessage("a request that is for no app has a route or a refusal")
      const answered =
        identified === undefined
          ? Effect.suspend(() => handle(request, target, info, found, services))
          : Effect.flatMap(identified, (user) => {
              info.user = user
              return handle(request, target, info, found, services)
            })
      return Effect.map(
        Effect.catchAllCause(answered, (cause) => failed(request, info, cause)),
        respond
      )
    }

    return Effect.withFiberRuntime<Response, never, Request | Scope.Scope>(({ currentContext }) => {
      const request = Context.unsafeGet(currentContext, HttpServerRequest.HttpServerRequest)
      const visiting = apps?.visitOf(request)
      return visiting === undefined
        ? begin(currentContext, request, undefined)
        : Effect.flatMap(Effect.exit(visiting), (visit) => begin(currentContext, request, visit))
    })
  })
