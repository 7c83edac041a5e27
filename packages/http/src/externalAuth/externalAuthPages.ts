/** Where browsers sign in to external providers: the redirect to a provider and back, and the page that a workspace's programs name. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, CurrentActor } from "@atelier/core/access"
import { ExternalAuth } from "@atelier/core/externalAuth"
import { Cryptography, Invalid, Unauthenticated } from "@atelier/core/platform"
import { Effect, type Scope } from "effect"
import { appPage } from "../pages/appPage.js"
import { brandOf } from "../pages/brandOf.js"
import type { PageBrand } from "../pages/page.js"
import { text } from "../pages/text.js"
import { refuse } from "../server/codec/respond.js"
import { isOwnForm } from "../server/credentials/Csrf.js"
import { loginCookies } from "../server/credentials/loginCookies.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { takesHtml } from "../server/request/audience.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { readForm } from "../server/request/form.js"
import { Settings } from "../server/request/Settings.js"
import { isRefusal, type Refusal, responseOf, statusOf } from "../wire/errors.js"
import { type Asked, linkPages } from "./linkPages.js"
import { providerVisits, queryOf } from "./providerVisits.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const notSignedIn = "You are signed out or your session has expired. Please sign in again to continue."

/** Whether a provider still waits for its user to enter the code (RFC 8628 §3.5). */
const isPending = (detail: string | undefined): boolean => detail === "authorization_pending" || detail === "slow_down"

/**
 * The routes of browsers. A deployment without pages refuses browsers that are not signed in.
 */
export const externalAuthPages = Effect.gen(function* () {
  const settings = yield* Settings
  const { sha256 } = yield* Cryptography
  const links = yield* ExternalAuth
  const cookies = loginCookies(settings)
  const brandOfPages = yield* brandOf
  const services = yield* Effect.context<never>()
  const { accessUrl, login } = settings
  const mount = new URL(accessUrl).pathname.replace(/\/$/, "")
  const { devicePage, linkedPage, refusedPage, startPage } = linkPages(settings, mount)
  const visited = providerVisits({ accessUrl, mount, links, cookies, sha256 })

  const toLogin = (request: Request, { path, user }: RequestInfo): Response => {
    const message = user?._tag === "Left" ? user.left.message : notSignedIn
    const query = queryOf(request).toString()
    if (login === undefined) return refuse(new Unauthenticated({ message }))
    const target = `${mount}${path}${query === "" ? "" : `?${query}`}`
    return HttpServerResponse.redirect(`${login}${login.includes("?") ? "&" : "?"}${new URLSearchParams({ message, redirect: target })}`, {
      status: 303,
      headers: { "cache-control": "no-store" }
    })
  }

  /** A refusal: a page for browsers. */
  const refused = (request: Request, brand: PageBrand, refusal: Refusal): Response => {
    if (refusal._tag === "NotModified" || !takesHtml(request)) return refuse(refusal)
    const { detail, message } = responseOf(refusal)
    return appPage(settings, brand, {
      status: statusOf(refusal),
      title: refusal._tag === "NotFound" ? text.linkMissing : text.linkFailed,
      message: detail ?? message
    })
  }

  /** A page for the user who is signed in. */
  const served = <R>(answer: (asked: Asked) => Effect.Effect<Response, Refusal, R | CurrentActor>): Page["handler"] =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const info = yield* CurrentRequest
      if (info.user?._tag !== "Right") return toLogin(request, info)
      const actor: Actor = info.user.right
      return yield* answer({ id: info.params["externalauth"] ?? "", request, info, brand: yield* brandOfPages }).pipe(
        Effect.catchAll((error) =>
          isRefusal(error) ? Effect.map(brandOfPages, (brand) => refused(request, brand, error)) : Effect.die(error)
        ),
        Effect.provideService(CurrentActor, actor)
      )
    }).pipe((effect) =>
      // The types of what use cases need are those of the whole application, which `services` is
      Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
    )

  const callback = served(({ id, info, request }) => visited(id, request, info))

  const show = served((asked) =>
    Effect.map(links.get(asked.id), (link) => (link.authenticated ? linkedPage(asked.brand, link) : startPage(asked, link)))
  )

  const submit = served((asked) =>
    Effect.gen(function* () {
      const { brand, id, request } = asked
      const sent = yield* Effect.mapError(readForm(request), () => new Invalid({ message: text.forged }))
      if (!isOwnForm(request, sent.get("csrf_token"), settings)) return yield* new Invalid({ message: text.forged })
      const link = yield* links.get(id)
      const code = sent.get("device_code") ?? ""
      if (code === "") {
        const { device_code, user_code, verification_uri } = yield* links.startDevice(id)
        return devicePage(asked, link, { code: device_code, user: user_code, uri: verification_uri })
      }
      const device = { code, user: sent.get("user_code") ?? "", uri: sent.get("verification_uri") ?? "" }
      return yield* Effect.matchEffect(links.completeDevice(id, code), {
        onSuccess: () => Effect.map(links.get(id), (linked) => linkedPage(brand, linked)),
        onFailure: (error) =>
          error._tag === "Invalid" && isPending(error.detail)
            ? Effect.succeed(devicePage(asked, link, device, text.linkDevicePending))
            : Effect.succeed(refusedPage(asked, link, responseOf(error).detail ?? error.message))
      })
    })
  )

  const callbacks = ["/external-auth/:externalauth/callback", "/gitauth/:externalauth/callback"] as const
  return [
    ...callbacks.map((path): Page => ({ method: "GET", path, handler: callback })),
    // Agents send their owners here, also those that sign in at the host
    { method: "GET", path: "/external-auth/:externalauth", handler: show } satisfies Page,
    { method: "POST", path: "/external-auth/:externalauth", handler: submit } satisfies Page
  ]
})
