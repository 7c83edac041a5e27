/** Protects browsers that are signed in by cookie against calls that other sites make them do. identity.md §1.7, wire.md W7. */
import { randomBytes } from "@atelier/node"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { timingSafeEqual } from "node:crypto"
import { bearerOf, cookieOf, sessionCookieOf, sessionHeadersOf, sessionQueriesOf } from "./Credential.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import type { HttpSettings } from "../request/Settings.js"
import { queryValue, type Target } from "../request/Target.js"

const tokenLength = 32

/** The cookie that holds the token. */
export const cookieName = "csrf_token"

/** A new value of the cookie: standard base64 of 32 random bytes. */
export const newToken = (): string => Buffer.from(randomBytes(tokenLength)).toString("base64")

/** Whether a cookie's value is a token at all. */
export const isToken = (cookie: string | undefined): cookie is string => cookie !== undefined && decode(cookie)?.length === tokenLength

/** Whether the header `X-CSRF-TOKEN` or a form's field, by itself or masked by a pad before it, is the cookie's token. */
const verifies = (given: string | undefined, cookie: string | undefined): boolean => {
  const sent = given === undefined ? undefined : decode(given)
  const token = cookie === undefined ? undefined : decode(cookie)
  if (sent === undefined || token?.length !== tokenLength) return false
  const unmasked =
    sent.length === 2 * tokenLength ? Buffer.from(sent.subarray(tokenLength).map((byte, index) => byte ^ (sent[index] ?? 0))) : sent
  return unmasked.length === tokenLength && timingSafeEqual(unmasked, token)
}

/** Standard base64, with or without padding; undefined for anything else. */
const decode = (text: string): Buffer | undefined => (/^[0-9A-Za-z+/]{1,128}={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined)

/**
 * Whole segments, so that a user's name cannot match: `/users/firstborn/keys`, `/users/derp/keys`. Of the paths of agents, only those that agents call
 * themselves: a user's browser runs commands and writes files at the others.
 */
const exemptPaths =
  /^\/api\/v2(?:\/users\/first$|\/oauth2\/(?:device_authorization|introspect|par|revoke|register)$|\/oauth2\/clients\/|\/workspaceagents\/(?:me\/|(?:aws|azure|google)-instance-identity$)|\/workspaceproxies\/me(?:\/|$)|\/scim\/|\/organizations\/[^/]+\/provisionerdaemons(?:\/|$)|\/csp\/reports$)/

/** Paths whose forms hold the token: only their handler knows it. */
const formPaths = /^(?:\/api\/v2)?\/oauth2\/authorize$/

/** No cookie authenticates a client of the token endpoint; a user disconnects an app there by cookie. oauth2-provider.md §1 no. 6 */
const tokenPaths = /^(?:\/api\/v2)?\/oauth2\/tokens$/

const isChecked = (method: string, path: string): boolean =>
  tokenPaths.test(path) ? method === "DELETE" : path.startsWith("/api") || formPaths.test(path)

/** The token against forged forms of the browser that a request comes from. A new one goes out with the response. */
export const csrfTokenOf = (info: RequestInfo, request: HttpServerRequest.HttpServerRequest): string => {
  const cookie = cookieOf(request, cookieName)
  return isToken(cookie) ? cookie : (info.csrfToken ??= newToken())
}

/** The token as a page shows it: masked anew each time, so that compressed answers tell nothing of it. */
export const maskedToken = (token: string): string => {
  const pad = randomBytes(tokenLength)
  const masked = Buffer.from(token, "base64").map((byte, index) => byte ^ (pad[index] ?? 0))
  return Buffer.concat([pad, masked]).toString("base64")
}

/**
 * Whether the page that a form was on, as far as the browser tells of it, is one of this service's. A page at a host of the same site, such as that of an
 * app, can set the cookie of the token for this host too, and can hide its own address: then the browser calls its origin "null".
 */
const isOwnPage = ({ headers }: HttpServerRequest.HttpServerRequest, accessUrl: string): boolean => {
  const { host = "", origin, referer = "", "sec-fetch-site": site } = headers
  const named = origin !== undefined && origin !== "null" ? origin : referer
  // Without any of these headers, the client is no browser
  if (named === "") return site === undefined ? origin === undefined : site === "same-origin" || site === "none"
  if (!URL.canParse(named)) return false
  const page = new URL(named)
  return page.origin === new URL(accessUrl).origin || page.host.toLowerCase() === host.toLowerCase()
}

/**
 * Whether a form comes from a page of this service, in the same browser. Unlike `forgeryCheck`, it demands this of requests without a session
 * too: a forged login would let another user's account collect what the browser's user does.
 */
export const isOwnForm = (
  request: HttpServerRequest.HttpServerRequest,
  formToken: string | undefined,
  { accessUrl }: Pick<HttpSettings, "accessUrl">
): boolean => verifies(formToken, cookieOf(request, cookieName)) && isOwnPage(request, accessUrl)

/** Methods that change nothing (RFC 9110 §9.2.1). */
const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS" || method === "TRACE"

/**
 * Whether a page of another origin made a browser send a request that changes something. Browsers say so themselves (Fetch Metadata), and those
 * that do not name the page's origin; a request with neither comes from no browser. Origins that the deployment lists are its own. A bearer token is nothing that a browser adds by itself.
 */
export const isCrossOrigin = (
  request: HttpServerRequest.HttpServerRequest,
  { accessUrl, cors }: Pick<HttpSettings, "accessUrl" | "cors">
): boolean => {
  if (isSafe(request.method) || bearerOf(request) !== undefined) return false
  const { host = "", origin, "sec-fetch-site": site } = request.headers
  if (origin !== undefined && (origin === new URL(accessUrl).origin || cors.origins.has(origin))) return false
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host.toLowerCase() === host.toLowerCase())
}

/**
 * Answers why a request counts as forged, or undefined when it does not. Paths with forms are judged by their handlers, which pass the token of the
 * form; empty without one.
 */
export const forgeryCheck = (settings: Pick<HttpSettings, "accessUrl" | "cookies" | "names">) => {
  const sessionCookie = sessionCookieOf(settings)
  const sessionHeaders = sessionHeadersOf(settings)
  const sessionQueries = sessionQueriesOf(settings)
  const provisionerHeaders = [settings.names.provisionerKeyHeader, settings.names.provisionerPskHeader].map((name) => name.toLowerCase())

  return (request: HttpServerRequest.HttpServerRequest, { path, query }: Target, formToken?: string): string | undefined => {
    if (isSafe(request.method) || !isChecked(request.method, path)) return undefined
    if (formToken === undefined && formPaths.test(path)) return undefined
    const session = cookieOf(request, sessionCookie)
    if (session === undefined) return undefined
    const sent = sessionHeaders.map((name) => request.headers[name] || undefined).find((value) => value !== undefined)
    if (sent === session || queryValue(query, sessionQueries) === session) return undefined
    if (bearerOf(request) !== undefined || provisionerHeaders.some((name) => request.headers[name])) return undefined
    const token = cookieOf(request, cookieName)
    if (exemptPaths.test(path) || verifies(request.headers["x-csrf-token"], token)) return undefined
    if (formToken !== undefined && verifies(formToken, token) && isOwnPage(request, settings.accessUrl)) return undefined
    return sent === undefined
      ? "Something is wrong with your CSRF token. Please refresh the page. If this error persists, try clearing your cookies."
      : `The session cookie and the header ${settings.names.sessionHeader} differ, and the cookie wins: send one of them, or the same value in both.`
  }
}
