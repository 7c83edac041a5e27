import type * as Cookies from "@effect/platform/Cookies"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { cookieOf } from "./Credential.js"
import type { HttpSettings } from "../request/Settings.js"

/** The cookies of a browser while it is at a provider. identity.md §7.1 no. 4. */
const loginCookieNames = {
  state: "oauth_state",
  nonce: "oauth_nonce",
  redirect: "oauth_redirect",
  verifier: "oauth_pkce_verifier",
  redirectUri: "oauth_redirect_uri"
} as const

/** The cookie of a browser that an authorization request has sent to sign in again: the request, and the session before. */
const formerSessionName = "oauth_former_session"

/** How long a browser may take to sign in again. */
const formerSessionLifetime = "30 minutes"

/** Every name of such a cookie. */
export const loginCookieTexts: ReadonlyArray<string> = [...Object.values(loginCookieNames), formerSessionName]

type Name = keyof typeof loginCookieNames
const keys: ReadonlyArray<Name> = ["state", "nonce", "redirect", "verifier", "redirectUri"]
type Response = HttpServerResponse.HttpServerResponse

/** Cookies that end with the browser, or when the login does. */
export const loginCookies = (settings: Pick<HttpSettings, "cookies" | "names">) => {
  const { hostPrefix, sameSite, secure } = settings.cookies
  // With a cookie set by another host of the domain, this browser could complete an attacker's login
  const prefixed = (name: string): string => `${hostPrefix ? "__Host-" : ""}${name}`
  const nameOf = (key: Name): string => prefixed(loginCookieNames[key])
  const options: Cookies.Cookie["options"] = { path: "/", httpOnly: true, secure, sameSite }
  const gone: Cookies.Cookie["options"] = { ...options, maxAge: 0 }
  const conversion: Cookies.Cookie["options"] = { ...options, sameSite: "lax" }
  return {
    /** Empty where the browser has none. */
    read: (request: HttpServerRequest.HttpServerRequest, key: Name): string => cookieOf(request, nameOf(key)) ?? "",
    /** Whatever is not among the values was another login's. */
    set: (response: Response, values: Partial<Readonly<Record<Name, string>>>): Response =>
      keys.reduce((result, key) => {
        const [name, value] = [nameOf(key), values[key]]
        return value === undefined
          ? HttpServerResponse.unsafeSetCookie(result, name, "", gone)
          : HttpServerResponse.unsafeSetCookie(result, name, value, options)
      }, response),
    clear: (response: Response): Response =>
      keys.reduce((result, key) => HttpServerResponse.unsafeSetCookie(result, nameOf(key), "", gone), response),
    /** What `setFormerSession` has left in this browser; empty without it. */
    formerSession: (request: HttpServerRequest.HttpServerRequest): string => cookieOf(request, prefixed(formerSessionName)) ?? "",
    setFormerSession: (response: Response, value: string): Response =>
      HttpServerResponse.unsafeSetCookie(response, prefixed(formerSessionName), value, { ...conversion, maxAge: formerSessionLifetime }),
    clearFormerSession: (response: Response): Response =>
      HttpServerResponse.unsafeSetCookie(response, prefixed(formerSessionName), "", { ...conversion, maxAge: 0 }),
    /** The permission to convert an account. identity.md §6.6. */
    setConversion: (response: Response, value: string, seconds: number): Response =>
      HttpServerResponse.unsafeSetCookie(response, settings.names.conversionCookie, value, { ...conversion, maxAge: `${seconds} seconds` }),
    clearConversion: (response: Response): Response =>
      HttpServerResponse.unsafeSetCookie(response, settings.names.conversionCookie, "", { ...conversion, maxAge: 0 })
  }
}
