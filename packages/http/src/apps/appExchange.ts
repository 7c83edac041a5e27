/** Passes an admitted request on to its app, and the app's answer back. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor, StreamRights } from "@atelier/core/access"
import { AppVisits } from "@atelier/core/insights"
import { Effect, Scope } from "effect"
import { IncomingMessage } from "node:http"
import { text } from "../pages/text.js"
import { withQuery } from "../server/codec/withQuery.js"
import * as Upgrades from "../server/connection/Upgrades.js"
import { Draining } from "../server/operate/Draining.js"
import type { Admission } from "../server/pipeline/AppServer.js"
import type { AppPath } from "../server/request/appPath.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { AppConnections } from "./AppConnections.js"
import { isPreflight, withLeave, withVary } from "./appCors.js"
import { requestHeaders, responseHeaders, type Scope as CookieScope, withoutCredentials } from "./appHeaders.js"
import type { AppPlaces } from "./appPlaces.js"
import type { AppRefusals } from "./appRefusals.js"
import { addedQuery, framingOf, joined, rawHeadersOf, upgradeOf } from "./appRequest.js"
import { bridge } from "./bridge.js"
import { bodyOf, delivered, type Headers } from "./delivery.js"
import { exchange } from "./forward.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How long a connection to an app may carry nothing. */
const idle = "10 minutes"

/** Sends the client to another address with the same method. */
const elsewhere = (location: string): Response =>
  HttpServerResponse.redirect(location.replace(/^[/\\]+/, "/"), { status: 307, headers: { "cache-control": "no-store" } })

/** Makes the exchange. It ends with the right to the app, and while the service drains. */
export const appExchange = (
  { names, version }: Pick<HttpSettings, "names" | "version">,
  { forwardingOf, originOf, placeOf, preflightAnswer }: AppPlaces,
  { shown }: AppRefusals
) =>
  Effect.gen(function* () {
    const { hold } = yield* StreamRights
    const draining = yield* Draining
    const visits = yield* AppVisits
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => new AppConnections()),
      (made) => Effect.sync(() => made.destroy())
    )
    const toApp = requestHeaders(names)
    const fromApp = responseHeaders(names)
    const clean = withoutCredentials(names)
    const requestIdHeader = names.requestIdHeader.toLowerCase()
    const own = { [requestIdHeader]: "", [names.buildVersionHeader.toLowerCase()]: version }

    /** Holds the right to the app until the request's end; the signal tells that the right has ended, or that the service drains. */
    const held = ({ actor, right, target }: Admission) => {
      const ending = new AbortController()
      const end = (): void => ending.abort()
      const leaving = Effect.uninterruptible(
        Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(draining.onBegin(end))))
      )
      return hold(right, end).pipe(
        Effect.zipRight(Effect.provideService(visits.begin(target, 200), CurrentActor, actor)),
        Effect.zipRight(leaving),
        Effect.as(ending.signal)
      )
    }

    /** The head of the app's answer as the client gets it. */
    const headersOf = (
      { rawHeaders }: IncomingMessage,
      request: Request,
      info: RequestInfo,
      app: AppPath,
      { cookies, target }: Admission
    ): Headers => {
      const isPath = app.address.access_method === "path"
      const scope: CookieScope = isPath ? { _tag: "Path", base: app.base } : { _tag: "Host" }
      const said = fromApp(rawHeaders, scope)
      const allowed = target.cors_behavior === "simple" ? withLeave(said, originOf(request, app, placeOf(info)), isPath) : said
      return {
        ...allowed,
        ...own,
        [requestIdHeader]: info.id,
        ...(isPath ? { vary: withVary(allowed["vary"], ["Origin", "Cookie"]) } : {}),
        ...(cookies.length === 0 ? {} : { "set-cookie": [...(allowed["set-cookie"] ?? []), ...cookies] })
      }
    }

    return (
      request: Request,
      info: RequestInfo,
      peer: string,
      app: AppPath,
      admission: Admission,
      finish: (response: Response) => Response
    ) =>
      Effect.gen(function* () {
        const { target, url } = admission
        const query = clean(app.query)
        if (app.path === "") return finish(elsewhere(withQuery(app.base, query)))
        if (target.cors_behavior === "simple" && isPreflight(request.method, request.headers))
          return finish(preflightAnswer(request, app, placeOf(info)))
        const added = addedQuery(url, app.path, query)
        if (added !== "") return finish(elsewhere(withQuery(app.base, added)))
        const signal = yield* held(admission)
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
            signal
          },
          connections
        )
        const headers = headersOf(answer.response, request, info, app, admission)
        if (answer._tag === "Response") {
          const isPath = app.address.access_method === "path"
          return delivered(request, isPath ? { ...headers, "x-content-type-options": "nosniff" } : headers, answer.response)
        }
        const client = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
        if (client === undefined) return yield* shown({ status: 502, title: text.appFailed, message: "The connection cannot be upgraded." })
        info.counted?.upgraded()
        return yield* bridge(client, headers, answer, signal)
      })
  })
