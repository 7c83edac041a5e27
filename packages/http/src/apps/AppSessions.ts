/** How a browser that is signed in to the service gets a session at the host of an app. agents-and-apps.md §19. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { ApiKeys } from "@atelier/core/identity"
import { Encryption, Invalid, NotFound, Unauthenticated } from "@atelier/core/platform"
import { bareHost } from "@atelier/core/workspaces"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { queryOf, seeOther } from "../pages/PageOptions.js"
import { CurrentRequest } from "../server/CurrentRequest.js"
import type { Page } from "../server/HttpApplication.js"
import { refuse } from "../server/respond.js"
import { Settings } from "../server/Settings.js"
import { withQuery } from "../server/withQuery.js"
import { appHosts, noApp } from "./appPath.js"

/** Milliseconds in which the browser has to come to the app's host. */
const lifetime = 60_000

/** Characters of a redirection's target. */
const maximumTarget = 8 * 1024

const Handover = Schema.parseJson(Schema.Struct({ key: Schema.String, expires_at: Schema.Number }))

/** The place of an encrypted key: it opens at one host only. */
const placeOf = (host: string): string => `app_session/${bareHost(host)}`

const notSignedIn = "You are signed out or your session has expired. Please sign in again to continue."

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const encryption = yield* Encryption
  const keys = yield* ApiKeys
  const { wildcardAccessUrl } = yield* DeploymentOptions
  const services = yield* Effect.context<never>()
  const access = new URL(settings.accessUrl)
  const hosts = appHosts(wildcardAccessUrl, settings.accessUrl)
  const parameter = settings.names.appKeyQuery
  const wildcardPort = /:(\d+)$/.exec(wildcardAccessUrl)?.[1] ?? access.port

  const seal = (key: string, host: string) =>
    Effect.gen(function* () {
      const text = JSON.stringify({ key, expires_at: (yield* Clock.currentTimeMillis) + lifetime })
      const { ciphertext, key_id } = yield* encryption.seal(new TextEncoder().encode(text), placeOf(host))
      return `${key_id}.${Buffer.from(ciphertext).toString("base64url")}`
    })

  /** An app's address as the browser is sent there; undefined where it is none. */
  const targetOf = (text: string): URL | undefined => {
    if (text.length > maximumTarget || !URL.canParse(text)) return undefined
    const target = new URL(text)
    const app = /^https?:$/.test(target.protocol) ? hosts(target.host, target.pathname) : undefined
    if (app === undefined || app === noApp || target.username !== "" || target.password !== "") return undefined
    // Another port of the host may be another program's
    target.protocol = access.protocol
    target.port = wildcardPort
    return target
  }

  const handOver = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { user } = yield* CurrentRequest
    const target = targetOf(new URLSearchParams(queryOf(request)).get("redirect_uri") ?? "")
    if (target === undefined) return refuse(Invalid.field("redirect_uri", "must be an address of an app below the wildcard"))
    if (user?._tag !== "Right") {
      const message = user?._tag === "Left" ? user.left.message : notSignedIn
      if (settings.login === undefined) return refuse(new Unauthenticated({ message }))
      return seeOther(withQuery(settings.login, { message, redirect: request.originalUrl }))
    }
    const made = yield* Effect.either(Effect.provideService(keys.createForApps(), CurrentActor, user.right))
    if (made._tag === "Left") return refuse(made.left._tag === "Forbidden" ? new NotFound({}) : made.left)
    target.searchParams.set(parameter, yield* seal(Redacted.value(made.right), target.host))
    return seeOther(target.href)
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
      const mark = text.indexOf(".")
      const sealed = { key_id: text.slice(0, mark), ciphertext: new Uint8Array(Buffer.from(text.slice(mark + 1), "base64url")) }
      return Effect.gen(function* () {
        const opened = yield* encryption.open(sealed, placeOf(host))
        const { expires_at, key } = yield* Schema.decode(Handover)(new TextDecoder().decode(opened))
        return (yield* Clock.currentTimeMillis) < expires_at ? Option.some(key) : Option.none()
      }).pipe(Effect.orElseSucceed(() => Option.none()))
    },

    /** The answer that gives the browser the session, and leads to the same address without it. */
    begun: (key: string, path: string, query: string): HttpServerResponse.HttpServerResponse => {
      const parameters = new URLSearchParams(query)
      parameters.delete(parameter)
      const { secure } = settings.cookies
      return HttpServerResponse.unsafeSetCookie(
        seeOther(withQuery(path.replace(/^[/\\]+/, "/"), parameters.toString())),
        settings.names.subdomainAppCookie,
        key,
        { path: "/", httpOnly: true, secure, sameSite: "lax" }
      )
    }
  }
})

export class AppSessions extends Context.Tag("@atelier/http/AppSessions")<AppSessions, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(AppSessions, make)
}
