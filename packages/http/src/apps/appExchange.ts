/** Passes an admitted request on to its app, and the app's answer back. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor, StreamRights } from "@atelier/core/access"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer } from "@atelier/core/network"
import { Context, Effect, Exit, Runtime, Scope } from "effect"
import { IncomingMessage } from "node:http"
import { text } from "../pages/text.js"
import { withQuery } from "../server/codec/withQuery.js"
import * as Upgrades from "../server/connection/Upgrades.js"
import { Draining } from "../server/operate/Draining.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import type { Admission } from "../server/pipeline/AppServer.js"
import type { AppPath } from "../server/request/appPath.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { isPreflight } from "./appCors.js"
import type { AppMessages } from "./appMessages.js"
import type { AppPlaces } from "./appPlaces.js"
import type { AppRefusals } from "./appRefusals.js"
import { addedQuery, framingOf, upgradeOf } from "./appRequest.js"
import { bridge } from "./bridge.js"
import { bodyOf, delivered } from "./delivery.js"
import { exchange, type KeptConnections } from "./forward.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How long a connection to an app may carry nothing. */
export const idle = "10 minutes"

/** Sends the client to another address with the same method. */
const elsewhere = (location: string): Response =>
  HttpServerResponse.redirect(location.replace(/^[/\\]+/, "/"), { status: 307, headers: { "cache-control": "no-store" } })

/** A scope that ends with its request unless a bridge keeps it. */
interface Lent {
  readonly scope: Scope.CloseableScope
  isKept: boolean
}

const lend = Effect.acquireRelease(
  Effect.map(Scope.make(), (scope): Lent => ({ scope, isKept: false })),
  ({ isKept, scope }, exit) => (isKept ? Effect.void : Scope.close(scope, exit))
)

/** Ends what a bridge has kept. Outside of what keeps it, whose request it would keep. */
const releasing = (runtime: Runtime.Runtime<never>, scope: Scope.CloseableScope, releases: ReadonlyArray<() => void>) => (): void => {
  for (const release of releases) release()
  const failed = (cause: unknown) => Effect.logError("an upgraded connection of an app did not end properly", cause)
  Runtime.runFork(runtime)(Effect.uninterruptible(Effect.catchAllCause(Scope.close(scope, Exit.void), failed)))
}

/** An admitted request, as it came. */
interface Came {
  readonly request: Request
  readonly info: RequestInfo
  readonly peer: string
  readonly app: AppPath
  readonly admission: Admission
}

/** Makes the exchange. It ends with the right to the app, and while the service drains. An upgraded connection outlives its request. */
export const appExchange = (
  { headersOf, linesOf, pathOf, queryOf }: AppMessages,
  { placeOf, preflightAnswer }: Pick<AppPlaces, "placeOf" | "preflightAnswer">,
  { shown }: Pick<AppRefusals, "shown">,
  connections: KeptConnections
) =>
  Effect.gen(function* () {
    const { hold } = yield* StreamRights
    const draining = yield* Draining
    const visits = yield* AppVisits
    const runtime = yield* FeedRuntime
    /** Holds the right to the app until the scope closes; the signal tells that the right has ended, or that the service drains. */
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

    const answered = ({ admission, app, info, peer, request }: Came) =>
      Effect.gen(function* () {
        const { target, url } = admission
        const signal = yield* held(admission)
        const body = yield* bodyOf(request)
        const answer = yield* exchange(
          {
            target,
            url,
            method: request.method,
            path: pathOf(app, url, queryOf(app.query)),
            headers: linesOf(request, info, peer),
            body: Object.assign(body, request.source instanceof IncomingMessage ? { source: request.source } : {}),
            framing: framingOf(request),
            upgrade: upgradeOf(request),
            idle,
            signal
          },
          connections
        )
        return { answer, signal, headers: headersOf(answer.response.rawHeaders, { admission, app, info, request }) }
      })

    /** What an upgraded connection keeps has no more services than it needs: those of a request are many. */
    const answeredIn = (came: Came, { scope }: Lent) =>
      Effect.mapInputContext(answered(came), (context: Context.Context<AgentDialer | Heartbeat>) =>
        Context.add(runtime.context, AgentDialer, Context.get(context, AgentDialer)).pipe(
          Context.add(Heartbeat, Context.get(context, Heartbeat)),
          Context.add(CurrentRequest, came.info),
          Context.add(Scope.Scope, scope)
        )
      )

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
        const query = queryOf(app.query)
        if (app.path === "") return finish(elsewhere(withQuery(app.base, query)))
        if (target.cors_behavior === "simple" && isPreflight(request.method, request.headers))
          return finish(preflightAnswer(request, app, placeOf(info)))
        const added = addedQuery(url, app.path, query)
        if (added !== "") return finish(elsewhere(withQuery(app.base, added)))
        const came = { admission, app, info, peer, request }
        const lent = upgradeOf(request) === undefined ? undefined : yield* lend
        const { answer, headers, signal } = yield* lent === undefined ? answered(came) : answeredIn(came, lent)
        if (answer._tag === "Response") {
          const isPath = app.address.access_method === "path"
          return delivered(request, isPath ? { ...headers, "x-content-type-options": "nosniff" } : headers, answer.response)
        }
        const client = lent !== undefined && request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
        if (client === undefined || lent === undefined)
          return yield* shown({ status: 502, title: text.appFailed, message: "The connection cannot be upgraded." })
        // Taken and kept in one step: an interruption comes before or after both
        lent.isKept = true
        const counted = info.counted?.outlived()
        bridge(
          client,
          headers,
          answer,
          signal,
          releasing(runtime, lent.scope, [client.release, ...(counted === undefined ? [] : [counted])])
        )
        return HttpServerResponse.empty()
      })
  })
