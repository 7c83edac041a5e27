import type * as Cookies from "@effect/platform/Cookies"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { HttpSettings } from "./Settings.js"

/** What a browser keeps while it is at a provider. identity.md §7.1 no. 4. */
export const loginCookieNames = {
  state: "oauth_state",
  nonce: "oauth_nonce",
  redirect: "oauth_redirect",
  verifier: "oauth_pkce_verifier",
  redirectUri: "oauth_redirect_uri"
} as const

type Name = keyof typeof loginCookieNames
type Response = HttpServerResponse.HttpServerResponse

/** Cookies that end with the browser, or when the log-in does. */
export const loginCookies = (settings: Pick<HttpSettings, "cookies" | "names">) => {
  const { sameSite, secure } = settings.cookies
  const options: Cookies.Cookie["options"] = { path: "/", httpOnly: true, secure, sameSite }
  const gone: Cookies.Cookie["options"] = { ...options, maxAge: 0 }
  const conversion: Cookies.Cookie["options"] = { ...options, sameSite: "lax" }
  return {
    /** Whatever is not among the values was another log-in's. */
    set: (response: Response, values: Partial<Readonly<Record<Name, string>>>): Response =>
      Object.entries(loginCookieNames).reduce((result, [key, name]) => {
        const value = values[key as Name]
        return value === undefined
          ? HttpServerResponse.unsafeSetCookie(result, name, "", gone)
          : HttpServerResponse.unsafeSetCookie(result, name, value, options)
      }, response),
    clear: (response: Response): Response =>
      Object.values(loginCookieNames).reduce((result, name) => HttpServerResponse.unsafeSetCookie(result, name, "", gone), response),
    /** The permission to convert an account. identity.md §6.6. */
    setConversion: (response: Response, value: string, seconds: number): Response =>
      HttpServerResponse.unsafeSetCookie(response, settings.names.conversionCookie, value, { ...conversion, maxAge: `${seconds} seconds` }),
    clearConversion: (response: Response): Response =>
      HttpServerResponse.unsafeSetCookie(response, settings.names.conversionCookie, "", { ...conversion, maxAge: 0 })
  }
}
