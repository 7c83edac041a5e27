/** Serves the apps of workspaces below paths of the service. agents-and-apps.md §19. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { anonymousActor, CurrentActor, StreamRights } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer } from "@atelier/core/network"
import { NotFound, Uuid } from "@atelier/core/platform"
import { AppAccess, type AppRefused, type AppTarget, bareHost } from "@atelier/core/workspaces"
import { Context, Deferred, Effect, Layer, Option, type Scope } from "effect"
import { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { TLSSocket } from "node:tls"
import { brandOf } from "../pages/brandOf.js"
import { text } from "../pages/text.js"
import { seeOther } from "../pages/PageOptions.js"
import { trusts } from "../server/ClientAddress.js"
import type { RequestInfo } from "../server/CurrentRequest.js"
import { Draining } from "../server/Draining.js"
import { NodeRequest } from "../server/NodeRequest.js"
import { Settings } from "../server/Settings.js"
import * as Upgrades from "../server/Upgrades.js"
import { withQuery } from "../server/withQuery.js"
import { friendlyOrigin, isPreflight, preflightHeaders, withLeave, withVary } from "./appCors.js"
import { cookiesOf, requestHeaders, responseHeaders, type Scope as CookieScope, withoutCredentials } from "./appHeaders.js"
import { type AppPage, appPage } from "./appPages.js"
import { appHosts, type AppPath, noApp, parseAppPath, requestTarget } from "./appPath.js"
import { AppConnections } from "./AppConnections.js"
import { AppSessions } from "./AppSessions.js"
import { type Answer, exchange } from "./forward.js"
import { normalized, SignedAppTokens, type SignedRequest, tokenCookie } from "./SignedAppTokens.js"
import { type AppPlace, rightThrough, visitReader } from "./Visit.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How long a connection to an app may carry nothing. */
const idle = "10 minutes"

const refusals: Readonly<Record<Exclude<AppRefused["reason"], "signed_out">, Omit<AppPage, "message">>> = {
  missing: { status: 404, title: text.appMissing },
  offline: { status: 400, title: text.appOffline },
  unavailable: { status: 404, title: text.appUnavailable, retry: true },
  disabled: { status: 403, title: text.appDisabled },
  invalid: { status: 400, title: text.appInvalid }
}

const missingApp = { reason: "missing", message: "The application does not exist, or you may not open it." } as const

/** How the client ends its body: with a length, by chunks, or without a body. */
const framingOf = ({ headers }: Request): { readonly length: number } | "chunked" | undefined => {
  if (headers["transfer-encoding"] !== undefined) return "chunked"
  const length = headers["content-length"]
  return length === undefined ? undefined : { length: Number(length) }
}

/** The head of a request as it came, where the host has kept it. */
const rawHeadersOf = ({ headers, source }: Request): ReadonlyArray<string> =>
  source instanceof IncomingMessage ? source.rawHeaders : Object.entries(headers).flatMap(([name, value]) => [name, value])

/** The protocol that a client asks for. HTTP/2 would carry requests past this one. */
const upgradeOf = ({ headers }: Request): string | undefined =>
  headers["upgrade"] === undefined || /\bh2c?\b/i.test(headers["upgrade"]) ? undefined : headers["upgrade"]

/** The query that the app's address has and the request leaves out. */
const addedQuery = (url: URL, path: string, query: string): string => (path === "/" && query === "" ? url.search.slice(1) : "")

/** A path below the path of the app's address. */
const joined = ({ pathname }: URL, path: string): string => `${pathname.replace(/\/+$/, "")}${path}`

/** Sends the client to another address with the same method. */
const elsewhere = (location: string): Response =>
  HttpServerResponse.redirect(location.replace(/^[/\\]+/, "/"), { status: 307, headers: { "cache-control": "no-store" } })

/** The app of a request as a signed token names it. */
const signedRequestOf = ({ address, base, prefix }: AppPath): SignedRequest => ({
  access_method: address.access_method,
  base_path: base,
  app_prefix: prefix,
  username_or_id: address.user,
  workspace_name_or_id: address.workspace,
  agent_name_or_id: address.agent,
  app_slug_or_port: address.slug_or_port
})

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

  const refusalPage = ({ message, reason }: { readonly message: string; readonly reason: keyof typeof refusals }) =>
    shown({ ...refusals[reason], message })

  const refused = (
    request: Request,
    { message, reason }: AppRefused,
    app: AppPath,
    place: AppPlace,
    host: string
  ): Effect.Effect<Response> => (reason === "signed_out" ? signIn(request, app, place, host) : refusalPage({ reason, message }))

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

  /** Connects the client and the app for as long as both stay. */
  const bridge = (
    request: Request,
    headers: Readonly<Record<string, string | ReadonlyArray<string>>>,
    { head, response, socket }: Extract<Answer, { readonly _tag: "Upgraded" }>
  ): Effect.Effect<Response> => {
    const taken = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
    if (taken === undefined) return shown({ status: 502, title: text.appFailed, message: "The connection cannot be upgraded." })
    const client = taken.socket
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one: string) => `${name}: ${one}`)
    )
    const upgraded = [
      "HTTP/1.1 101 Switching Protocols",
      "connection: Upgrade",
      `upgrade: ${response.headers.upgrade ?? ""}`,
      ...lines,
      "",
      ""
    ]
    return Effect.async<void>((resume) => {
      const over = (): void => resume(Effect.void)
      for (const side of [client, socket]) side.once("close", over).on("error", over)
      client.write(upgraded.join("\r\n"), "latin1")
      client.write(head)
      if (taken.head.length > 0) socket.write(taken.head)
      client.pipe(socket).pipe(client)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          client.destroy()
          socket.destroy()
          taken.release()
        })
      ),
      Effect.as(HttpServerResponse.empty())
    )
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

  /** The cookies that give the browser a token for the app it may open. */
  const tokenCookies = (app: AppPath, { isSecure }: AppPlace, target: AppTarget, actor: CurrentActor["Type"]) =>
    Effect.map(tokens.issue(signedRequestOf(app), target, actor), (issued): ReadonlyArray<string> => {
      return issued === undefined ? [] : [tokenCookie(names.signedAppCookie, issued, { path: app.base, isSecure })]
    })

  const forwarded = (
    request: Request,
    info: RequestInfo,
    peer: string,
    app: AppPath,
    { actor, hasToken }: { readonly actor: CurrentActor["Type"]; readonly hasToken: boolean },
    finish: (response: Response) => Response
  ) =>
    Effect.gen(function* () {
      const [granted, target] = yield* Effect.provideService(access.open(app.address), CurrentActor, actor)
      const right = rightThrough(info.visit, granted)
      const place = placeOf(info)
      const url = new URL(target.url)
      const query = clean(app.query)
      if (app.path === "") return finish(elsewhere(withQuery(app.base, query)))
      const isPath = app.address.access_method === "path"
      const isSimple = target.cors_behavior === "simple"
      if (isSimple && isPreflight(request.method, request.headers)) return finish(preflightAnswer(request, app, place))
      const added = addedQuery(url, app.path, query)
      if (added !== "") return finish(elsewhere(withQuery(app.base, added)))
      const over = yield* Deferred.make<void>()
      const end = (): void => Deferred.unsafeDone(over, Effect.void)
      yield* hold(right, end)
      yield* Effect.provideService(visits.begin(target, 200), CurrentActor, actor)
      yield* Effect.forkScoped(Effect.zipRight(draining.begun, Effect.sync(end)))
      const forwarding = forwardingOf(request, info, peer)
      const body = yield* bodyOf(request)
      const answer = yield* Effect.raceFirst(
        exchange(
          {
            target,
            method: request.method,
            path: withQuery(joined(url, app.path), query),
            headers: toApp(rawHeadersOf(request), forwarding),
            body: Object.assign(body, request.source instanceof IncomingMessage ? { source: request.source } : {}),
            framing: framingOf(request),
            upgrade: upgradeOf(request),
            idle
          },
          connections
        ),
        Effect.zipRight(Deferred.await(over), Effect.interrupt)
      )
      const scope: CookieScope = isPath ? { _tag: "Path", base: app.base } : { _tag: "Host" }
      const said = fromApp(answer.response.rawHeaders, scope)
      const allowed = isSimple ? withLeave(said, originOf(request, app, place), isPath) : said
      const cookies = hasToken ? [] : yield* tokenCookies(app, place, target, actor)
      const headers = {
        ...allowed,
        ...own,
        [names.requestIdHeader.toLowerCase()]: info.id,
        ...(isPath ? { vary: withVary(allowed["vary"], ["Origin", "Cookie"]) } : {}),
        ...(cookies.length === 0 ? {} : { "set-cookie": [...(allowed["set-cookie"] ?? []), ...cookies] })
      }
      if (answer._tag === "Upgraded") {
        info.counted?.upgraded()
        return yield* Effect.raceFirst(bridge(request, headers, answer), Effect.as(Deferred.await(over), HttpServerResponse.empty()))
      }
      const { response } = answer
      yield* Effect.forkScoped(
        Effect.zipRight(
          Deferred.await(over),
          Effect.sync(() => response.destroy(new Error("The stream has ended.")))
        )
      )
      return delivered(request, isPath ? { ...headers, "x-content-type-options": "nosniff" } : headers, response)
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
        : shown({ status: 400, title: text.appInvalid, message: "The host names no application or port of a workspace." }),

    /** Answers a request to an app. `finish` completes answers that are not the app's. */
    serve: (
      request: Request,
      info: RequestInfo,
      peer: string,
      app: AppPath,
      finish: (response: Response) => Response
    ): Effect.Effect<Response, never, Scope.Scope> => {
      const { id, ip, user, userAgent } = info
      const call = { ip, userAgent, requestId: id }
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
              finished(shown({ status: 400, title: text.appInvalid, message: "The way to the application has expired. Open it again." })),
            onSome: (key) => Effect.succeed(finish(sessions.begun(key, app, place)))
          })
        )
      }
      // Browsers send preflights without credentials, so that none would come through to an app that needs a session
      const isAsking = isPreflight(request.method, request.headers) && originOf(request, app, place) !== undefined
      const caller = Effect.gen(function* () {
        const claims = yield* tokens.read(cookiesOf(request.headers["cookie"], names.signedAppCookie), signedRequestOf(app))
        const hasToken = Option.isSome(claims)
        if (user?._tag === "Right") return { actor: user.right, hasToken }
        const holder = hasToken ? yield* tokens.holder(claims.value, call) : Option.none()
        return { actor: Option.getOrElse(holder, () => anonymousActor(call)), hasToken }
      })
      return (isAsking ? access.corsBehavior(app.address) : Effect.succeed("passthru")).pipe(
        Effect.flatMap((behavior) =>
          behavior === "simple"
            ? Effect.succeed(finish(preflightAnswer(request, app, place)))
            : Effect.flatMap(caller, (known) =>
                Effect.catchTag(forwarded(request, info, peer, app, known, finish), "AppRefused", (refusal) =>
                  finished(refused(request, refusal, app, place, host)).pipe(
                    Effect.tap(({ status }) => (refusal.app === undefined ? Effect.void : visits.log(refusal.app, status))),
                    Effect.provideService(CurrentActor, known.actor)
                  )
                )
              )
        ),
        Effect.catchTags({
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
