/** Where browsers sign in to external providers: the redirect to a provider and back, and the page that a workspace's programs name. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, CurrentActor } from "@atelier/core/access"
import { ExternalAuth, type ExternalAuthClient, type LinkedExternalAuth } from "@atelier/core/externalAuth"
import { constantTimeEquals, Cryptography, Invalid, randomAlphanumeric, Unauthenticated } from "@atelier/core/platform"
import { Effect, Encoding, Redacted, type Scope } from "effect"
import { isRefusal, type Refusal, responseOf } from "../wire/errors.js"
import { providerText } from "../logins/providerText.js"
import { readForm } from "../server/request/form.js"
import { csrfTokenOf, isOwnForm, maskedToken } from "../server/credentials/Csrf.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { loginCookies } from "../server/credentials/loginCookies.js"
import { refuse } from "../server/codec/respond.js"
import { safeRedirect } from "../server/request/safeRedirect.js"
import { Settings } from "../server/request/Settings.js"
import { createHmac } from "node:crypto"
import { brandOf } from "../pages/brandOf.js"
import { escaped, page, type PageBrand } from "../pages/page.js"
import { text } from "../pages/text.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Characters of the nonce that a state is made from, of 62 kinds each. */
const nonceLength = 32

/** Characters of a code verifier (RFC 7636 §4.1). */
const verifierLength = 64

const encoder = new TextEncoder()

const notSignedIn = "You are signed out or your session has expired. Please sign in again to continue."

const queryOf = ({ url }: Request): URLSearchParams => new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "")

const redirect = (location: string): Response =>
  HttpServerResponse.redirect(location, { status: 307, headers: { "cache-control": "no-store" } })

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

  interface Asked {
    readonly id: string
    readonly request: Request
    readonly info: RequestInfo
    readonly brand: PageBrand
  }

  /** A page for the user who is signed in. */
  const served = <R>(answer: (asked: Asked) => Effect.Effect<Response, Refusal, R | CurrentActor>): Page["handler"] =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const info = yield* CurrentRequest
      if (info.user?._tag !== "Right") return toLogin(request, info)
      const actor: Actor = info.user.right
      return yield* answer({ id: info.params["externalauth"] ?? "", request, info, brand: yield* brandOfPages }).pipe(
        Effect.catchAll((error) => (isRefusal(error) ? Effect.succeed(refuse(error)) : Effect.die(error))),
        Effect.provideService(CurrentActor, actor)
      )
    }).pipe((effect) =>
      // The types of what use cases need are those of the whole application, which `services` is
      Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
    )

  /** Where a provider sends browsers back to. */
  const redirectUriOf = ({ provider: { id, redirect_url } }: ExternalAuthClient): string => {
    const path = `/external-auth/${encodeURIComponent(id)}/callback`
    return redirect_url === "" ? `${accessUrl}${path}` : new URL(`${mount}${path}`, redirect_url).href
  }

  const usesPkce = ({ provider }: ExternalAuthClient): boolean => provider.code_challenge_methods_supported.includes("S256")

  /**
   * The state that a nonce begins, which the browser also keeps as a cookie. It belongs to one session and one provider: a state that another
   * user, or a page of another provider, has put into the browser does not complete their sign-in.
   */
  const stateOf = (
    { provider: { client_secret, id } }: ExternalAuthClient,
    { credential = "" }: RequestInfo,
    userId: string,
    nonce: string
  ) =>
    nonce +
    createHmac("sha256", JSON.stringify([credential, client_secret]))
      .update(JSON.stringify([userId, id, nonce]))
      .digest("base64url")

  /** Sends the browser to the provider, with cookies that its return is checked against. */
  const begin = (client: ExternalAuthClient, info: RequestInfo, query: URLSearchParams) =>
    Effect.gen(function* () {
      const state = stateOf(client, info, (yield* CurrentActor).userId, yield* randomAlphanumeric(nonceLength))
      const verifier = usesPkce(client) ? yield* randomAlphanumeric(verifierLength) : ""
      const code_challenge = verifier === "" ? "" : Encoding.encodeBase64Url(yield* sha256(encoder.encode(verifier)))
      const location = client.authorizationUrl({ redirect_uri: redirectUriOf(client), state, code_challenge })
      const target = query.get("redirect") ?? ""
      return cookies.set(redirect(location), {
        state,
        redirect: target === "" ? "" : safeRedirect(target),
        ...(verifier === "" ? {} : { verifier })
      })
    })

  const callback = served(({ id, info, request }) =>
    Effect.gen(function* () {
      const client = yield* links.redirecting(id)
      const query = queryOf(request)
      const refused = query.get("error") ?? ""
      if (refused !== "") {
        return yield* new Invalid({
          message: `The provider refused: ${providerText(refused)}.`,
          detail: providerText(query.get("error_description") ?? "")
        })
      }
      const code = query.get("code") ?? ""
      if (code === "") return yield* begin(client, info, query)
      const state = query.get("state") ?? ""
      if (state === "") return yield* new Invalid({ message: "The state is missing." })
      const expected = stateOf(client, info, (yield* CurrentActor).userId, state.slice(0, nonceLength))
      const isExpected = (value: string): boolean => constantTimeEquals(encoder.encode(expected), encoder.encode(value))
      if (!isExpected(state) || !isExpected(cookies.read(request, "state"))) {
        return yield* new Unauthenticated({ message: "The state belongs to another browser or session. Begin again." })
      }
      const verifier = cookies.read(request, "verifier")
      if (verifier === "" && usesPkce(client)) return yield* new Invalid({ message: "The cookie with the code verifier is missing." })
      yield* links.complete(client, { code, redirect_uri: redirectUriOf(client), code_verifier: Redacted.make(verifier) })
      const target = safeRedirect(cookies.read(request, "redirect"))
      return cookies.clear(redirect(target === "/" ? `${mount}/external-auth/${encodeURIComponent(id)}?redirected=true` : target))
    })
  )

  const form = ({ id, info, request }: Asked, button: string, fields = ""): string =>
    `<form method="POST" action="${mount}/external-auth/${escaped(encodeURIComponent(id))}">
<input type="hidden" name="csrf_token" value="${escaped(maskedToken(csrfTokenOf(info, request)))}">
${fields}<div class="actions"><button type="submit">${escaped(button)}</button></div>
</form>`

  const isPending = (detail: string | undefined): boolean => detail === "authorization_pending" || detail === "slow_down"

  /** The page of a provider whose codes users enter there. */
  const devicePage = (
    asked: Asked,
    { display_name }: LinkedExternalAuth,
    device: { code: string; user: string; uri: string },
    notice = ""
  ) =>
    page(settings, asked.brand, {
      title: text.linkTitle(display_name),
      formAction: "",
      content: `${notice === "" ? "" : `<p role="status">${escaped(notice)}</p>\n`}<p>${escaped(text.linkDevice)}</p>
<p><strong>${escaped(device.user)}</strong></p>
${/^https?:/i.test(device.uri) ? `<p><a href="${escaped(device.uri)}" target="_blank" rel="noreferrer">${escaped(device.uri)}</a></p>` : ""}
${form(
  asked,
  text.linkDeviceDone,
  Object.entries({ device_code: device.code, user_code: device.user, verification_uri: device.uri })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">\n`)
    .join("")
)}`
    })

  const linkedPage = (brand: PageBrand, { display_name, user }: LinkedExternalAuth): Response =>
    page(settings, brand, {
      title: text.linkedTitle(display_name),
      content: `<p>${escaped(user === null || user.login === "" ? text.linkedLead : text.linkedAs(user.login))}</p>`
    })

  const show = served((asked) =>
    Effect.gen(function* () {
      const { brand } = asked
      const link = yield* links.get(asked.id)
      if (link.authenticated) return linkedPage(brand, link)
      const notice = link.failure === "" ? "" : `<p class="error" role="alert">${escaped(link.failure)}</p>\n`
      return page(settings, brand, {
        title: text.linkTitle(link.display_name),
        status: link.failure === "" ? 200 : 502,
        formAction: "",
        content: `${notice}<p>${escaped(text.linkLead)}</p>
${
  link.device
    ? form(asked, text.linkStart(link.display_name))
    : `<div class="actions"><a class="button" href="${mount}/external-auth/${escaped(encodeURIComponent(asked.id))}/callback">${escaped(text.linkStart(link.display_name))}</a></div>`
}`
      })
    })
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
            : Effect.succeed(
                page(settings, brand, {
                  title: text.linkTitle(link.display_name),
                  status: 400,
                  formAction: "",
                  content: `<p class="error" role="alert">${escaped(responseOf(error).detail ?? error.message)}</p>\n${form(asked, text.linkStart(link.display_name))}`
                })
              )
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
