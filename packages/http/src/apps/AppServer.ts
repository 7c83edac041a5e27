/** Serves the apps of workspaces below paths of the service. agents-and-apps.md §19. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, anonymousActor, CurrentActor, keptDecisions, type StreamRight, StreamRights } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer } from "@atelier/core/network"
import { NotFound, Uuid } from "@atelier/core/platform"
import { AppAccess, type AppRefused, type AppTarget, bareHost } from "@atelier/core/workspaces"
import { Context, Data, Effect, Layer, Option, Scope } from "effect"
import { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { TLSSocket } from "node:tls"
import { brandOf } from "../pages/brandOf.js"
import { text } from "../pages/text.js"
import { seeOther } from "../pages/PageOptions.js"
import { startPath } from "../pages/startPage.js"
import { trusts } from "../server/request/ClientAddress.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { Draining } from "../server/operate/Draining.js"
import { NodeRequest } from "../server/connection/NodeRequest.js"
import { Settings } from "../server/request/Settings.js"
import * as Upgrades from "../server/connection/Upgrades.js"
import { withQuery } from "../server/codec/withQuery.js"
import { friendlyOrigin, isPreflight, preflightHeaders, withLeave, withVary } from "./appCors.js"
import { cookiesOf, requestHeaders, responseHeaders, type Scope as CookieScope, withoutCredentials } from "./appHeaders.js"
import { type AppPage, appPage } from "../pages/appPage.js"
import { appHosts, type AppPath, noApp, parseAppPath, requestTarget } from "../server/request/appPath.js"
import { addedQuery, framingOf, joined, rawHeadersOf, signedRequestOf, upgradeOf } from "./appRequest.js"
import { AppConnections } from "./AppConnections.js"
import { AppSessions } from "./AppSessions.js"
import { bridge } from "./bridge.js"
import { exchange } from "./forward.js"
import { normalized, SignedAppTokens, type SignedRequest, tokenCookie } from "./SignedAppTokens.js"
import { type AppPlace, rightThrough, visitReader } from "../server/request/Visit.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How long a connection to an app may carry nothing. */
const idle = "10 minutes"

/** Characters of the name of a request whose admission is kept. */
const maximumKey = 4_096

const refusals: Readonly<Record<Exclude<AppRefused["reason"], "signed_out">, Omit<AppPage, "message">>> = {
  missing: { status: 404, title: text.appMissing },
  offline: { status: 400, title: text.appOffline },
  unavailable: { status: 404, title: text.appUnavailable, retry: true },
  disabled: { status: 403, title: text.appDisabled },
  invalid: { status: 400, title: text.appInvalid }
}

const missingApp = { reason: "missing", message: "The application does not exist, or you may not open it." } as const

/** Sends the client to another address with the same method. */
const elsewhere = (location: string): Response =>
  HttpServerResponse.redirect(location.replace(/^[/\\]+/, "/"), { status: 307, headers: { "cache-control": "no-store" } })

/** The caller may not open the app. */
class Unadmitted extends Data.TaggedError("Unadmitted")<{ readonly refusal: AppRefused; readonly actor: Actor }> {}

/** Who asks for an app, and where the request goes. */
interface Admission {
  /** The user of the request, or why its credential was refused. */
  readonly user: RequestInfo["user"]
  readonly actor: Actor
  readonly right: StreamRight
  readonly target: AppTarget
  /** The target's address. */
  readonly url: URL
  /** The cookies that give the browser a token for the app it may open. */
  readonly cookies: ReadonlyArray<string>
}

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const access = yield* AppAccess
  const tokens = yield* SignedAppTokens
  const draining = yield* Draining
  const sessions = yield* AppSessions
  const { protocol } = new URL(settings.accessUrl)
  const { wildcardAccessUrl } = yield* DeploymentOptions
  const { hold } = yield* StreamRights
  const dialer = yield* AgentDialer
  const visits = yield* AppVisits
  const admissions = yield* keptDecisions<Admission>()
  const connections = yield* Effect.acquireRelease(
    Effect.sync(() => new AppConnections()),
    (made) => Effect.sync(() => made.destroy())
  )
  const brand = yield* brandOf
  const { names } = settings
  const trustsPeer = trusts(settings.trustedProxies)
  const toApp = requestHeaders(names)
  const fromApp = responseHeaders(names)
  const clean = withoutCredentials(names)
  const own = { [names.requestIdHeader.toLowerCase()]: "", [names.buildVersionHeader.toLowerCase()]: settings.version }

  const visitOf = yield* visitReader
  const hosts = appHosts(wildcardAccessUrl, settings.accessUrl)
  const here: AppPlace = { hosts, protocol, isSecure: settings.cookies.secure, isElsewhere: false }
  const placeOf = ({ visit }: RequestInfo): AppPlace => visit?.place ?? here
  const originOf = ({ headers }: Request, { address }: AppPath, place: AppPlace) => friendlyOrigin(place.hosts, address, headers)
  const preflightAnswer = (request: Request, app: AppPath, place: AppPlace): Response =>
    HttpServerResponse.empty({ status: 200, headers: preflightHeaders(originOf(request, app, place), request.headers) })

  const shown = (content: AppPage) => Effect.map(brand, (as) => appPage(settings, as, content))

  /** A caller who might get the app with a session is sent to sign in. */
  const signIn = (request: Request, app: AppPath, { isElsewhere, protocol }: AppPlace, host: string): Effect.Effect<Response> =>
    isElsewhere || app.address.access_method === "subdomain"
      ? Effect.succeed(seeOther(sessions.address(`${protocol}//${host}${requestTarget(app)}`)))
      : settings.login === undefined
        ? shown({ ...refusals.missing, message: "Sign in to open this application." })
        : Effect.succeed(
            seeOther(
              withQuery(settings.login, {
                message: "You are signed out or your session has expired. Please sign in again to continue.",
                redirect: request.originalUrl
              })
            )
          )

  const refusalPage = ({ message, reason }: { readonly message: string; readonly reason: keyof typeof refusals }, start?: string) =>
    shown({ ...refusals[reason], message, ...(start === undefined ? {} : { start }) })

  /** Where a workspace is started: at the service's own address, whose session the browser has. */
  const startAddress = ({ address: { user, workspace } }: AppPath): string | undefined =>
    settings.login === undefined ? undefined : `${settings.accessUrl}${startPath(user, workspace)}`

  const refused = (
    request: Request,
    { mayStart, message, reason }: AppRefused,
    app: AppPath,
    place: AppPlace,
    host: string
  ): Effect.Effect<Response> =>
    reason === "signed_out"
      ? signIn(request, app, place, host)
      : refusalPage({ reason, message }, mayStart === true ? startAddress(app) : undefined)

  const forwardingOf = (request: Request, info: RequestInfo, peer: string) => {
    if (info.visit !== undefined) {
      const { host, ip, place } = info.visit
      return { ip, host, protocol: place.protocol.slice(0, -1), isTrusted: false }
    }
    const isTrusted = trustsPeer(peer)
    const isEncrypted = request.source instanceof IncomingMessage && request.source.socket instanceof TLSSocket
    const told = isTrusted ? request.headers["x-forwarded-proto"]?.split(",")[0]?.trim() : undefined
    return {
      ip: info.ip,
      host: (isTrusted ? request.headers["x-forwarded-host"] : undefined) ?? request.headers["host"] ?? "",
      protocol: isEncrypted ? "https" : told || "http",
      isTrusted
    }
  }

  const delivered = (request: Request, headers: Record<string, string | ReadonlyArray<string>>, response: IncomingMessage): Response => {
    const status = response.statusCode ?? 502
    if (request instanceof NodeRequest) {
      // Each part of the service that waits for the response's end listens to it
      request.response.setMaxListeners(20)
      const raw = HttpServerResponse.raw(response, { status })
      // Node sends a header with several texts as several lines, which `HttpServerResponse.raw` would join
      return Object.assign(Object.create(Object.getPrototypeOf(raw)), raw, { headers })
    }
    const body = NodeStream.fromReadable<unknown, Uint8Array>(
      () => response,
      (error) => error
    )
    const flat = Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : value.join(", ")])
    return HttpServerResponse.stream(body, { status, headers: Object.fromEntries(flat) })
  }

  const bodyOf = (request: Request) =>
    request.source instanceof IncomingMessage
      ? Effect.succeed(request.source)
      : Effect.map(NodeStream.toReadable(request.stream), (stream) => Readable.from(stream))

  const signedCookiesOf = ({ headers }: Request): ReadonlyArray<string> => cookiesOf(headers["cookie"], names.signedAppCookie)

  /** The caller, by the session or else by a token for the app. */
  const callerOf = (request: Request, { id, ip, user, userAgent }: RequestInfo, app: AppPath) =>
    Effect.gen(function* () {
      const call = { ip, userAgent, requestId: id }
      const claims = yield* tokens.read(signedCookiesOf(request), signedRequestOf(app))
      const hasToken = Option.isSome(claims)
      if (user?._tag === "Right") return { actor: user.right, hasToken }
      const holder = hasToken ? yield* tokens.holder(claims.value, call) : Option.none()
      return { actor: Option.getOrElse(holder, () => anonymousActor(call)), hasToken }
    })

  /** Judges whether the caller may open the app. */
  const admit = (request: Request, info: RequestInfo, app: AppPath): Effect.Effect<Admission, Unadmitted> =>
    Effect.gen(function* () {
      const { actor, hasToken } = yield* callerOf(request, info, app)
      const [granted, target] = yield* access.open(app.address).pipe(
        Effect.mapError((refusal) => new Unadmitted({ refusal, actor })),
        Effect.provideService(CurrentActor, actor)
      )
      const issued = hasToken ? undefined : yield* tokens.issue(signedRequestOf(app), target, actor)
      const { isSecure } = placeOf(info)
      const cookies = issued === undefined ? [] : [tokenCookie(names.signedAppCookie, issued, { path: app.base, isSecure })]
      return { user: info.user, actor, right: rightThrough(info.visit, granted), target, url: new URL(target.url), cookies }
    })

  const forwarded = (
    request: Request,
    info: RequestInfo,
    peer: string,
    app: AppPath,
    { actor, cookies, right, target, url }: Admission,
    finish: (response: Response) => Response
  ) =>
    Effect.gen(function* () {
      const place = placeOf(info)
      const query = clean(app.query)
      if (app.path === "") return finish(elsewhere(withQuery(app.base, query)))
      const isPath = app.address.access_method === "path"
      const isSimple = target.cors_behavior === "simple"
      if (isSimple && isPreflight(request.method, request.headers)) return finish(preflightAnswer(request, app, place))
      const added = addedQuery(url, app.path, query)
      if (added !== "") return finish(elsewhere(withQuery(app.base, added)))
      const ending = new AbortController()
      const end = (): void => ending.abort()
      yield* hold(right, end)
      yield* Effect.provideService(visits.begin(target, 200), CurrentActor, actor)
      const requestScope = yield* Effect.scope
      yield* Effect.uninterruptible(Effect.suspend(() => Scope.addFinalizer(requestScope, Effect.sync(draining.onBegin(end)))))
      const forwarding = forwardingOf(request, info, peer)
      const body = yield* bodyOf(request)
      const answer = yield* exchange(
        {
          target,
          url,
          method: request.method,
          path: withQuery(joined(url, app.path), query),
          headers: toApp(rawHeadersOf(request), forwarding),
          body: Object.assign(body, request.source instanceof IncomingMessage ? { source: request.source } : {}),
          framing: framingOf(request),
          upgrade: upgradeOf(request),
          idle,
          signal: ending.signal
        },
        connections
      )
      const scope: CookieScope = isPath ? { _tag: "Path", base: app.base } : { _tag: "Host" }
      const said = fromApp(answer.response.rawHeaders, scope)
      const allowed = isSimple ? withLeave(said, originOf(request, app, place), isPath) : said
      const headers = {
        ...allowed,
        ...own,
        [names.requestIdHeader.toLowerCase()]: info.id,
        ...(isPath ? { vary: withVary(allowed["vary"], ["Origin", "Cookie"]) } : {}),
        ...(cookies.length === 0 ? {} : { "set-cookie": [...(allowed["set-cookie"] ?? []), ...cookies] })
      }
      if (answer._tag === "Response") {
        return delivered(request, isPath ? { ...headers, "x-content-type-options": "nosniff" } : headers, answer.response)
      }
      const client = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
      if (client === undefined) return yield* shown({ status: 502, title: text.appFailed, message: "The connection cannot be upgraded." })
      info.counted?.upgraded()
      return yield* bridge(client, headers, answer, ending.signal)
    })

  return {
    /** The app that a request is for, by its host or its path. */
    appOf: (request: Request, peer: string): AppPath | typeof noApp | undefined => {
      const told = trustsPeer(peer) ? request.headers["x-forwarded-host"] : undefined
      return hosts(told ?? request.headers["host"] ?? "", request.url) ?? parseAppPath(request.url, settings.basePath)
    },

    /** The visit that a workspace proxy passes on; undefined for other requests. Fails unless the proxy's token is valid. */
    visitOf,

    /**
     * A token for a visitor of a workspace proxy, at whose host the app has this address; the page or the redirection that the visitor gets
     * instead. Fails with `NotFound` for a terminal that the visitor may not open.
     */
    issue: (signed: SignedRequest, url: string): Effect.Effect<string | Response, NotFound, CurrentActor> =>
      Effect.gen(function* () {
        const { access_method, agent_name_or_id: agent, app_slug_or_port, username_or_id: user, workspace_name_or_id: workspace } = signed
        const agentId = Uuid.parse(agent)
        const [, target] =
          access_method === "terminal"
            ? yield* agentId === undefined ? new NotFound({ resource: "workspace_agent" }) : access.openTerminal(agentId)
            : yield* access.open({ access_method, user, workspace, agent, slug_or_port: app_slug_or_port })
        const issued = yield* tokens.issue(normalized(signed), target, yield* CurrentActor)
        return issued === undefined ? yield* refusalPage(missingApp) : issued.token
      }).pipe(
        Effect.catchTag("AppRefused", (refusal) =>
          refusal.reason === "signed_out"
            ? Effect.succeed(seeOther(sessions.address(url)))
            : refusalPage({ reason: refusal.reason, message: refusal.message })
        )
      ),

    /** The page of a host below the wildcard that names no app; one host leads to the service, where the user signs out. */
    noApp: (request: Request): Effect.Effect<Response> =>
      bareHost(request.headers["host"] ?? "").startsWith(`${names.realm}-logout.`)
        ? Effect.succeed(seeOther(settings.accessUrl))
        : shown({ status: 400, title: text.appInvalid, message: "This host is not the address of an application or port of a workspace." }),

    /**
     * The name of a request whose admission may be kept, which is that of equal requests. Undefined for a request whose checks are listed, and
     * for one whose name is too long to be remembered.
     */
    keyOf: (request: Request, info: RequestInfo, app: AppPath): string | undefined => {
      if (info.checks !== undefined) return undefined
      const { credential, ip, userAgent, visit } = info
      const { access_method, agent, slug_or_port, user, workspace } = app.address
      const named = [access_method, app.base, app.prefix, user, workspace, agent, slug_or_port]
      const key = JSON.stringify([...named, credential, visit?.proxy_id, ip, userAgent, ...signedCookiesOf(request)])
      return key.length > maximumKey ? undefined : key
    },

    /** The admission of an equal request of a moment ago, which still holds. */
    find: admissions.find,

    /** Begins a request whose admission is to be kept. */
    begin: admissions.begin,

    /** Answers a request to an app. `finish` completes answers that are not the app's. Without an admission it judges, and gives `keep` its own. */
    serve: (
      request: Request,
      info: RequestInfo,
      peer: string,
      app: AppPath,
      finish: (response: Response) => Response,
      kept: Admission | undefined,
      keep: ((admission: Admission) => void) | undefined
    ): Effect.Effect<Response, never, Scope.Scope> => {
      const finished = Effect.map(finish)
      const { host } = forwardingOf(request, info, peer)
      const place = placeOf(info)
      const takesSession = place.isElsewhere || app.address.access_method === "subdomain"
      // Below paths of the service, whose session the browser has, such a key is refused
      const brought = sessions.broughtBy(app.query, takesSession ? host : "")
      if (brought !== undefined) {
        return Effect.flatMap(
          brought,
          Option.match({
            onNone: () =>
              finished(shown({ status: 400, title: text.appInvalid, message: "The link to the application has expired. Open it again." })),
            onSome: (handed) => Effect.succeed(finish(sessions.begun(handed, app, place)))
          })
        )
      }
      // Browsers send preflights without credentials, so that none would come through to an app that needs a session
      const isAsking = isPreflight(request.method, request.headers) && originOf(request, app, place) !== undefined
      const judged = Effect.suspend(() => admit(request, info, app)).pipe(Effect.tap((admitted) => Effect.sync(() => keep?.(admitted))))
      const admission = kept !== undefined ? Effect.succeed(kept) : judged
      return (isAsking ? access.corsBehavior(app.address) : Effect.succeed("passthru")).pipe(
        Effect.flatMap((behavior) =>
          behavior === "simple"
            ? Effect.succeed(finish(preflightAnswer(request, app, place)))
            : Effect.flatMap(admission, (admitted) => forwarded(request, info, peer, app, admitted, finish))
        ),
        Effect.catchTags({
          Unadmitted: ({ actor, refusal }) =>
            // A preflight to an app that does not exist is answered, so one that the caller may not open is answered alike
            (isAsking && (refusal.reason === "signed_out" || refusal.reason === "missing")
              ? Effect.succeed(finish(preflightAnswer(request, app, place)))
              : finished(refused(request, refusal, app, place, host))
            ).pipe(
              Effect.tap(({ status }) => (refusal.app === undefined ? Effect.void : visits.log(refusal.app, status))),
              Effect.provideService(CurrentActor, actor)
            ),
          AppFailed: ({ message }) => finished(shown({ status: 502, title: text.appFailed, message, retry: true })),
          TooLarge: ({ message }) => finished(shown({ status: 413, title: text.appTooLarge, message })),
          TooManyStreams: ({ message }) => finished(shown({ status: 429, title: text.appBusy, message, retry: true }))
        }),
        Effect.provideService(AgentDialer, dialer)
      )
    }
  }
})

/** Serves the apps of workspaces; undefined where none are served. */
export class AppServer extends Context.Reference<AppServer>()("@atelier/http/AppServer", {
  defaultValue: (): Effect.Effect.Success<typeof make> | undefined => undefined
}) {
  static readonly layer = Layer.scoped(AppServer, make)
}
