/** How a browser that is signed in to the service gets a session at the host of an app. agents-and-apps.md §19. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { DeploymentOptions, WorkspaceProxies } from "@atelier/core/deployment"
import { ApiKeys } from "@atelier/core/identity"
import { Invalid, NotFound, Timestamp, Unauthenticated } from "@atelier/core/platform"
import { bareHost } from "@atelier/core/workspaces"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { EncryptJWT, jwtDecrypt } from "jose"
import { Wire } from "../wire/dialect.js"
import { queryOf, seeOther } from "../pages/PageOptions.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { withQuery } from "../server/codec/withQuery.js"
import { appKeys, currentKey } from "./appKeys.js"
import { appHosts, type AppPath, noApp, parseAppPath, requestTarget } from "../server/request/appPath.js"
import { handOverStatus } from "./description.js"
import type { AppPlace } from "../server/request/Visit.js"

/** Seconds in which the browser has to come to the app's host. */
const lifetime = 60

/** Characters of a redirection's target. */
const maximumTarget = 8 * 1024

const Handover = Schema.Struct({ api_key: Schema.String, host: Schema.String })

/** How a key is encrypted (RFC 7518 §4.7, §5.3): workspace proxies decrypt it with the deployment's keys. */
const algorithms = { alg: "A256GCMKW", enc: "A256GCM" } as const
const audience = "wsproxy"

const notSignedIn = "You are signed out or your session has expired. Please sign in again to continue."

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const wire = yield* Wire
  const apiKeys = yield* ApiKeys
  const proxies = yield* WorkspaceProxies
  const { wildcardAccessUrl } = yield* DeploymentOptions
  const services = yield* Effect.context<never>()
  const access = new URL(settings.accessUrl)
  const hosts = appHosts(wildcardAccessUrl, settings.accessUrl)
  const parameter = settings.names.appKeyQuery
  const wildcardPort = /:(\d+)$/.exec(wildcardAccessUrl)?.[1] ?? access.port

  const issuer = `${settings.names.realm}d`
  const keys = yield* appKeys("workspace_apps_api_key")

  const seal = (api_key: string, host: string) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const { secret, sequence } = yield* currentKey(yield* keys, now)
      const seconds = Math.floor(Timestamp.toMillis(now) / 1000)
      return yield* Effect.promise(() =>
        // The key opens at this host only
        new EncryptJWT({ api_key, host: bareHost(host) })
          .setProtectedHeader({ ...algorithms, kid: String(sequence) })
          .setIssuer(issuer)
          .setAudience(audience)
          .setNotBefore(seconds - lifetime)
          .setExpirationTime(seconds + lifetime)
          .encrypt(Redacted.value(secret))
      )
    })

  const opened = (text: string, host: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const known = yield* keys
      const { payload } = yield* Effect.tryPromise(() =>
        jwtDecrypt(
          text,
          ({ kid }) => {
            const key = known.find(({ sequence }) => String(sequence) === kid)
            return key === undefined ? Promise.reject(new Error("the key is unknown")) : Redacted.value(key.secret)
          },
          {
            issuer,
            audience,
            currentDate: new Date(now),
            keyManagementAlgorithms: [algorithms.alg],
            contentEncryptionAlgorithms: [algorithms.enc],
            requiredClaims: ["exp", "nbf"]
          }
        )
      )
      const handover = yield* Schema.decodeUnknown(Handover)(payload)
      return handover.host === bareHost(host) ? Option.some(handover.api_key) : Option.none()
    }).pipe(Effect.orElseSucceed(() => Option.none<string>()))

  /** The address of an app that the browser is sent to; undefined for other addresses. */
  const targetOf = (text: string) =>
    Effect.gen(function* () {
      if (text.length > maximumTarget || !URL.canParse(text)) return undefined
      const target = new URL(text)
      if (!/^https?:$/.test(target.protocol) || target.username !== "" || target.password !== "") return undefined
      const app = hosts(target.host, target.pathname)
      if (app === noApp) return undefined
      const place = app === undefined ? yield* proxyOf(target) : { protocol: access.protocol, port: wildcardPort }
      if (place === undefined) return undefined
      // Another port of the host may be another program's
      target.protocol = place.protocol
      target.port = place.port
      return target
    })

  /** Where the workspace proxy is reached that serves an app at an address. */
  const proxyOf = (target: URL) =>
    Effect.map(proxies.serving, (all) =>
      all
        .map(({ url, wildcard_hostname }) => {
          const { port, protocol } = new URL(url)
          if (bareHost(target.host) === bareHost(new URL(url).host)) {
            return parseAppPath(target.pathname, "") === undefined ? undefined : { protocol, port }
          }
          const app = appHosts(wildcard_hostname, url)(target.host, target.pathname)
          return app === undefined || app === noApp ? undefined : { protocol, port: /:(\d+)$/.exec(wildcard_hostname)?.[1] ?? port }
        })
        .find((place) => place !== undefined)
    )

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
  static readonly layer = Layer.effect(AppSessions, make)
}
