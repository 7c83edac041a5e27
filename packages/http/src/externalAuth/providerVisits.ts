/** The way of a browser to an external provider and back, and the state that its return is checked against. identity.md §9. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import type { ExternalAuth, ExternalAuthClient } from "@atelier/core/externalAuth"
import { constantTimeEquals, type Cryptography, Invalid, randomAlphanumeric, Unauthenticated } from "@atelier/core/platform"
import { Effect, Encoding, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { providerText } from "../logins/providerText.js"
import type { loginCookies } from "../server/credentials/loginCookies.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { safeRedirect } from "../server/request/safeRedirect.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Characters of the nonce that a state is made from, of 62 kinds each. */
const nonceLength = 32

/** Characters of a code verifier (RFC 7636 §4.1). */
const verifierLength = 64

const encoder = new TextEncoder()

/** The parameters of a request. */
export const queryOf = ({ url }: Request): URLSearchParams => new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "")

const redirect = (location: string): Response =>
  HttpServerResponse.redirect(location, { status: 307, headers: { "cache-control": "no-store" } })

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

interface Needs {
  readonly accessUrl: string
  /** The path that the service is mounted at. */
  readonly mount: string
  readonly links: ExternalAuth["Type"]
  readonly cookies: ReturnType<typeof loginCookies>
  readonly sha256: Cryptography["Type"]["sha256"]
}

/** Returns what answers a browser on the address that a provider sends it back to: it goes to the provider, or comes from there. */
export const providerVisits = ({ accessUrl, cookies, links, mount, sha256 }: Needs) => {
  /** Where a provider sends browsers back to. */
  const redirectUriOf = ({ provider: { id, redirect_url } }: ExternalAuthClient): string => {
    const path = `/external-auth/${encodeURIComponent(id)}/callback`
    return redirect_url === "" ? `${accessUrl}${path}` : new URL(`${mount}${path}`, redirect_url).href
  }

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

  return (id: string, request: Request, info: RequestInfo) =>
    Effect.gen(function* () {
      const client = yield* links.redirecting(id)
      const query = queryOf(request)
      const state = query.get("state") ?? ""
      const expected = stateOf(client, info, (yield* CurrentActor).userId, state.slice(0, nonceLength))
      const isExpected = (value: string): boolean => constantTimeEquals(encoder.encode(expected), encoder.encode(value))
      const isOwn = isExpected(state) && isExpected(cookies.read(request, "state"))
      const refused = query.get("error") ?? ""
      // Without its state the text is chosen by a link: a page must not say whatever a link makes it say
      if (refused !== "" && !isOwn) return yield* new Invalid({ message: "The provider refused the sign-in." })
      if (refused !== "") {
        return yield* new Invalid({
          message: `The provider refused: ${providerText(refused)}.`,
          detail: providerText(query.get("error_description") ?? "")
        })
      }
      const code = query.get("code") ?? ""
      if (code === "") return yield* begin(client, info, query)
      if (state === "") return yield* new Invalid({ message: "The state is missing." })
      if (!isOwn) return yield* new Unauthenticated({ message: "The state belongs to another browser or session. Begin again." })
      const verifier = cookies.read(request, "verifier")
      if (verifier === "" && usesPkce(client)) return yield* new Invalid({ message: "The cookie with the code verifier is missing." })
      yield* links.complete(client, { code, redirect_uri: redirectUriOf(client), code_verifier: Redacted.make(verifier) })
      const target = safeRedirect(cookies.read(request, "redirect"))
      return cookies.clear(redirect(target === "/" ? `${mount}/external-auth/${encodeURIComponent(id)}?redirected=true` : target))
    })
}
