/** Protects browsers that are signed in by cookie against calls that other sites make them do. identity.md §1.7, wire.md W7. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { timingSafeEqual } from "node:crypto"
import { bearerOf, cookieOf, sessionCookieOf, sessionHeadersOf, sessionQueriesOf } from "./Credential.js"
import type { HttpSettings } from "./Settings.js"
import { randomBytes } from "./Random.js"
import { queryValue, type Target } from "./Target.js"

const tokenLength = 32

/** The cookie that holds the token. */
export const cookieName = "csrf_token"

/** A new value of the cookie: standard base64 of 32 random bytes. */
export const newToken = (): string => Buffer.from(randomBytes(tokenLength)).toString("base64")

/** Whether a cookie's value is a token at all. */
export const isToken = (cookie: string | undefined): cookie is string => cookie !== undefined && decode(cookie)?.length === tokenLength

/** Whether the header `X-CSRF-TOKEN`, by itself or masked by a pad before it, is the cookie's token. */
const verifies = (header: string | undefined, cookie: string | undefined): boolean => {
  const sent = header === undefined ? undefined : decode(header)
  const token = cookie === undefined ? undefined : decode(cookie)
  if (sent === undefined || token?.length !== tokenLength) return false
  const unmasked =
    sent.length === 2 * tokenLength ? Buffer.from(sent.subarray(tokenLength).map((byte, index) => byte ^ (sent[index] ?? 0))) : sent
  return unmasked.length === tokenLength && timingSafeEqual(unmasked, token)
}

/** Standard base64, with or without padding; undefined for anything else. */
const decode = (text: string): Buffer | undefined => (/^[0-9A-Za-z+/]{1,128}={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined)

/** Whole segments, so that a user's name cannot match: `/users/firstborn/keys`, `/users/derp/keys`. */
const exemptPaths =
  /^\/api\/v2(?:\/users\/first$|\/workspaceagents\/|\/workspaceproxies\/me(?:\/|$)|\/scim\/|\/organizations\/[^/]+\/provisionerdaemons(?:\/|$)|\/csp\/reports$)/

/** Methods that change nothing (RFC 9110 §9.2.1). */
const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS" || method === "TRACE"

/**
 * Whether a page of another origin made a browser send a request that changes something. Browsers say so themselves (Fetch Metadata), and those
 * that do not name the page's origin; a request with neither comes from no browser. A bearer token is nothing that a browser adds by itself.
 */
export const isCrossOrigin = (request: HttpServerRequest.HttpServerRequest, accessUrl: string): boolean => {
  if (isSafe(request.method) || bearerOf(request) !== undefined) return false
  const { host = "", origin, "sec-fetch-site": site } = request.headers
  if (origin === new URL(accessUrl).origin) return false
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host.toLowerCase() === host.toLowerCase())
}

/** Answers why a request counts as forged, or undefined when it does not. */
export const forgeryCheck = (settings: Pick<HttpSettings, "cookies" | "names">) => {
  const sessionCookie = sessionCookieOf(settings)
  const sessionHeaders = sessionHeadersOf(settings)
  const sessionQueries = sessionQueriesOf(settings)
  const provisionerHeaders = [settings.names.provisionerKeyHeader, settings.names.provisionerPskHeader].map((name) => name.toLowerCase())

  return (request: HttpServerRequest.HttpServerRequest, { path, query }: Target): string | undefined => {
    if (isSafe(request.method) || !(path.startsWith("/api") || path.startsWith("/oauth2/authorize"))) return undefined
    const session = cookieOf(request, sessionCookie)
    if (session === undefined) return undefined
    const sent = sessionHeaders.map((name) => request.headers[name] || undefined).find((value) => value !== undefined)
    if (sent === session || queryValue(query, sessionQueries) === session) return undefined
    if (bearerOf(request) !== undefined || provisionerHeaders.some((name) => request.headers[name])) return undefined
    if (exemptPaths.test(path) || verifies(request.headers["x-csrf-token"], cookieOf(request, cookieName))) return undefined
    return sent === undefined
      ? "Something is wrong with your CSRF token. Please refresh the page. If this error persists, try clearing your cookies."
      : `The session cookie and the header ${settings.names.sessionHeader} differ, and the cookie wins: send one of them, or the same value in both.`
  }
}
