/** How a browser that is signed in to the service gets a session at the host of an app. agents-and-apps.md §19. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { DeploymentOptions, WorkspaceProxies } from "@atelier/core/deployment"
import { ApiKeys } from "@atelier/core/identity"
import { Invalid, NotFound, service, Unauthenticated } from "@atelier/core/platform"
import { Context, Effect, type Option, Redacted } from "effect"
import { Wire } from "../wire/dialect.js"
import { queryOf, seeOther } from "../pages/PageOptions.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { withQuery } from "../server/codec/withQuery.js"
import { type AppPath, requestTarget } from "../server/request/appPath.js"
import { appTargets } from "./appTargets.js"
import { handOverStatus } from "./description.js"
import type { AppPlace } from "../server/request/Visit.js"
import { sealedSessions } from "./sealedSessions.js"

const notSignedIn = "You are signed out or your session has expired. Please sign in again to continue."

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const wire = yield* Wire
  const apiKeys = yield* ApiKeys
  const proxies = yield* WorkspaceProxies
  const { wildcardAccessUrl } = yield* DeploymentOptions
  const services = yield* Effect.context<never>()
  const targetOf = appTargets({ accessUrl: settings.accessUrl, wildcardAccessUrl, proxies, isAnyHost: wire === "reference" })
  const { opened, seal } = yield* sealedSessions(settings.names.realm)
  const parameter = settings.names.appKeyQuery

  const handOver = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { user } = yield* CurrentRequest
    if (user?._tag !== "Right") {
      const message = user?._tag === "Left" ? user.left.message : notSignedIn
      if (settings.login === undefined) return refuse(new Unauthenticated({ message }))
      return seeOther(withQuery(settings.login, { message, redirect: request.originalUrl }))
    }
    const target = yield* targetOf(new URLSearchParams(queryOf(request)).get("redirect_uri") ?? "")
    if (target === undefined)
      return refuse(Invalid.field("redirect_uri", "must be an address of an app below the wildcard, or at a workspace proxy"))
    const made = yield* Effect.either(Effect.provideService(apiKeys.createForApps(), CurrentActor, user.right))
    if (made._tag === "Left") return refuse(made.left._tag === "Forbidden" ? new NotFound({}) : made.left)
    target.searchParams.set(parameter, yield* seal(Redacted.value(made.right), target.host))
    return HttpServerResponse.redirect(target.href, { status: handOverStatus(wire), headers: { "cache-control": "no-store" } })
  })

  const page: Page = {
    method: "GET",
    path: "/api/v2/applications/auth-redirect",
    // The types of what use cases need are those of the whole application, which `services` is
    handler: Effect.provide(
      handOver as Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
      services
    )
  }

  return {
    page,

    /** Where a browser without a session at an app's host is sent. */
    address: (url: string): string => withQuery(`${settings.accessUrl}/api/v2/applications/auth-redirect`, { redirect_uri: url }),

    /**
     * The session that a query brings to a host; undefined where the query has no such parameter, and None where it is wrong, of another host, or
     * has expired.
     */
    broughtBy: (query: string, host: string): Effect.Effect<Option.Option<string>> | undefined => {
      if (!query.includes(parameter)) return undefined
      const text = new URLSearchParams(query).get(parameter)
      if (text === null) return undefined
      return opened(text, host)
    },

    /** The answer that gives the browser the session, and leads to the same address without it. */
    begun: (key: string, app: AppPath, { isSecure }: AppPlace): HttpServerResponse.HttpServerResponse => {
      const parameters = new URLSearchParams(app.query)
      parameters.delete(parameter)
      const { pathAppCookie, subdomainAppCookie } = settings.names
      return HttpServerResponse.unsafeSetCookie(
        seeOther(requestTarget({ ...app, query: parameters.toString() }).replace(/^[/\\]+/, "/")),
        app.address.access_method === "path" ? pathAppCookie : subdomainAppCookie,
        key,
        { path: "/", httpOnly: true, secure: isSecure, sameSite: "lax" }
      )
    }
  }
})

export class AppSessions extends Context.Tag("@atelier/http/AppSessions")<AppSessions, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(AppSessions, make)
}
