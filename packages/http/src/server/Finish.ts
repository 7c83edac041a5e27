import { Cookies, Headers, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { policyOf } from "./Cors.js"
import { cookieOf } from "./Credential.js"
import * as Csrf from "./Csrf.js"
import type { RequestInfo } from "./CurrentRequest.js"
import { refuse } from "./respond.js"
import type { HttpSettings } from "./Settings.js"

/** How long browsers keep our cookies, in seconds: a year. identity.md §2.2. */
const cookieSeconds = 31_536_000

/** Completes a response with what every response carries. identity.md §1.2. */
export const finisher = (settings: HttpSettings) => {
  const { cookies, names } = settings
  const buildVersionHeader = names.buildVersionHeader.toLowerCase()
  const requestIdHeader = names.requestIdHeader.toLowerCase()
  const resourceMetadata = `${settings.accessUrl}/.well-known/oauth-protected-resource`
  const options: Cookies.Cookie["options"] = { path: "/", httpOnly: true, secure: cookies.secure, sameSite: cookies.sameSite }
  const attributes = `; Max-Age=${cookieSeconds}; Path=/; HttpOnly${cookies.secure ? "; Secure" : ""}; SameSite=${cookies.sameSite === "none" ? "None" : "Lax"}`

  return (request: HttpServerRequest.HttpServerRequest, info: RequestInfo, response: HttpServerResponse.HttpServerResponse) => {
    const { quota, refused } = info
    const answer = refused === undefined ? response : refuse(refused)
    const added: Record<string, string> = {
      [requestIdHeader]: info.id,
      [buildVersionHeader]: settings.version,
      "x-content-type-options": "nosniff"
    }
    // Without a length Node would announce chunks of an empty body
    if (answer.body._tag === "Empty" && answer.status !== 204 && answer.status !== 304) added["content-length"] = "0"
    if (answer.headers["vary"] === undefined) added["vary"] = "Origin, Cookie"
    if (refused !== undefined) {
      const code = refused._tag === "Forbidden" ? "insufficient_scope" : "invalid_token"
      // What a quoted string of a header may hold (RFC 9110 §5.6.4)
      const description = refused.message.replace(/["\\]|[^\x20-\x7e]/g, "")
      added["www-authenticate"] =
        `Bearer realm="${names.realm}", error="${code}", error_description="${description}", resource_metadata="${resourceMetadata}"`
    }
    if (quota !== undefined) {
      added["x-ratelimit-limit"] = String(quota.limit)
      added["x-ratelimit-remaining"] = String(quota.remaining)
      added["x-ratelimit-reset"] = String(quota.reset)
      if (answer.status === 429) added["retry-after"] = "60"
    }
    if (request.headers["origin"] !== undefined) Object.assign(added, policyOf(info.path, settings.allowAllCors)?.response)

    const csrf = Csrf.isToken(cookieOf(request, Csrf.cookieName)) ? undefined : Csrf.newToken()
    const rewritten = cookies.hostPrefix && cookieOf(request, names.sessionCookie) !== undefined
    if (csrf !== undefined) added["set-cookie"] = `${Csrf.cookieName}=${csrf}${attributes}`
    const complete = HttpServerResponse.setHeaders(answer, Headers.unsafeFromRecord(added))
    return rewritten
      ? HttpServerResponse.unsafeSetCookie(complete, names.sessionCookie, "", { ...options, maxAge: "-1 seconds" })
      : complete
  }
}
