import { challenge } from "../credentials/challenge.js"
import type * as Cookies from "@effect/platform/Cookies"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { AccessObjects, permits } from "@atelier/core/access"
import { IncomingMessage } from "node:http"
import { drainLimit } from "../request/body.js"
import * as Continue from "../connection/Continue.js"
import { originHeaders } from "../request/Cors.js"
import { cookieOf } from "../credentials/Credential.js"
import * as Csrf from "../credentials/Csrf.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import type { HttpSettings } from "../request/Settings.js"

type Headers = Record<string, string | ReadonlyArray<string>>

/**
 * The response with other headers, whose names are in lower case. Node sends a header with several texts as several lines. `HttpServerResponse.setHeaders`
 * copies all of them four times over, at a twentieth of a request's cost.
 */
const withHeaders = (response: HttpServerResponse.HttpServerResponse, headers: Headers): HttpServerResponse.HttpServerResponse => {
  const { body, cookies, status, statusText } = response
  const copy = Object.create(Object.getPrototypeOf(response))
  copy[HttpServerResponse.TypeId] = HttpServerResponse.TypeId
  copy.status = status
  copy.statusText = statusText
  copy.headers = headers
  copy.cookies = cookies
  copy.body = body
  return copy
}

/**
 * Paths whose answers hold codes, tokens or keys, whatever their status (RFC 6749 §5.1, RFC 9111 §5.2.2.5): OAuth2, logins, API keys, and the
 * keys of agents, proxies and provisioners. oauth2-provider.md §1 no. 4.
 */
const unstoredPaths =
  /^(?:\/api\/v2)?\/oauth2\/|^\/api\/v2\/(?:oauth2-provider|users\/login|users\/[^/]+\/keys|organizations\/[^/]+\/provisionerkeys|workspaceproxies|workspaceagents\/(?:me|aws-instance-identity|azure-instance-identity|google-instance-identity)|workspaces\/[^/]+\/external-agent)(?:\/|$)/

/** How long browsers keep our cookies, in seconds: a year. identity.md §2.2. */
const cookieSeconds = 31_536_000

/** Whether a refused body is still on its way, in a length that is not worth reading to its end. */
const leavesUnread = (request: HttpServerRequest.HttpServerRequest, status: number): boolean =>
  status === 408 ||
  (status === 413 && !(Number(request.headers["content-length"]) <= drainLimit)) ||
  (request.source instanceof IncomingMessage && Continue.isExpected(request.source))

/** Warnings that one response carries, and characters of each. */
const maximumWarnings = 16
const maximumWarning = 512

/** A text as a header may contain it (RFC 9110 §5.5). */
const headerText = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, maximumWarning)

/**
 * Completes a response with the headers that every response carries. `warnings` are sent to users who may read the deployment's
 * configuration. identity.md §1.2.
 */
export const finisher = (settings: HttpSettings, warnings: () => ReadonlyArray<string>) => {
  const { cookies, names } = settings
  const buildVersionHeader = names.buildVersionHeader.toLowerCase()
  const requestIdHeader = names.requestIdHeader.toLowerCase()
  const warningsHeader = names.entitlementsWarningHeader.toLowerCase()
  const resourceMetadata = `${settings.accessUrl}/.well-known/oauth-protected-resource`
  const options: Cookies.Cookie["options"] = {
    maxAge: `${cookieSeconds} seconds`,
    path: "/",
    httpOnly: true,
    secure: cookies.secure,
    sameSite: cookies.sameSite
  }
  const attributes = `; Max-Age=${cookieSeconds}; Path=/; HttpOnly${cookies.secure ? "; Secure" : ""}; SameSite=${cookies.sameSite === "none" ? "None" : "Lax"}`

  return (request: HttpServerRequest.HttpServerRequest, info: RequestInfo, response: HttpServerResponse.HttpServerResponse) => {
    const { checks, quota, refused } = info
    // One by one: spread objects and computed names took 4 µs more, a fifteenth of a small request
    const headers: Headers = {}
    for (const name in response.headers) {
      const value = response.headers[name]
      if (value !== undefined) headers[name] = value
    }
    headers[requestIdHeader] = info.id
    headers[buildVersionHeader] = settings.version
    headers["x-content-type-options"] = "nosniff"
    // Without a length Node would announce chunks of an empty body
    if (response.body._tag === "Empty" && response.status !== 204 && response.status !== 304) headers["content-length"] = "0"
    if (leavesUnread(request, response.status)) headers["connection"] = "close"
    if (unstoredPaths.test(info.path)) Object.assign(headers, { "cache-control": "no-store", pragma: "no-cache" })
    if (response.headers["vary"] === undefined && !info.shared) headers["vary"] = "Origin, Cookie"
    if (refused !== undefined) {
      headers["www-authenticate"] = challenge(request, info, { realm: names.realm, refused, resourceMetadata })
    }
    if (quota !== undefined) {
      headers["x-ratelimit-limit"] = String(quota.limit)
      headers["x-ratelimit-remaining"] = String(quota.remaining)
      headers["x-ratelimit-reset"] = String(quota.reset)
      if (response.status === 429) headers["retry-after"] = "60"
    }
    // What the answer depends on may be back soon
    if ((response.status === 502 || response.status === 503) && response.headers["retry-after"] === undefined) headers["retry-after"] = "5"
    if (info.routed && info.user?._tag === "Right" && refused === undefined) {
      const texts = warnings()
      if (texts.length > 0 && permits(info.user.right.subject, "read", AccessObjects.bare("deployment_config"))) {
        headers[warningsHeader] = texts
          .map(headerText)
          .filter((text) => text !== "")
          .slice(0, maximumWarnings)
      }
    }
    if (checks !== undefined) headers["x-authz-checks"] = checks.summary()
    const isPreflight = request.headers["access-control-request-method"] !== undefined
    const { origin } = request.headers
    if (origin !== undefined && !isPreflight) Object.assign(headers, originHeaders(settings.cors, info.path, origin))

    if (info.shared) return withHeaders(response, headers)
    const token = Csrf.isToken(cookieOf(request, Csrf.cookieName)) ? undefined : (info.csrfToken ?? Csrf.newToken())
    const isPlain = cookies.hostPrefix && cookieOf(request, names.sessionCookie) !== undefined
    if (isPlain) headers["set-cookie"] = `${names.sessionCookie}=; Max-Age=-1; Path=/`
    if (token === undefined) return withHeaders(response, headers)
    if (isPlain || response.headers["set-cookie"] !== undefined) {
      return HttpServerResponse.unsafeSetCookie(withHeaders(response, headers), Csrf.cookieName, token, options)
    }
    headers["set-cookie"] = `${Csrf.cookieName}=${token}${attributes}`
    return withHeaders(response, headers)
  }
}
