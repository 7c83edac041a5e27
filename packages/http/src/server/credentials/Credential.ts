import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { namesOf } from "../../wire/Brand.js"
import type { HttpSettings } from "../request/Settings.js"
import { queryValue } from "../request/Target.js"

const neutral = namesOf()

/** The headers that carry a session token: the product's and the neutral one, in lower case. identity.md §16. */
export const sessionHeadersOf = ({ names }: Pick<HttpSettings, "names">): ReadonlyArray<string> => [
  ...new Set([names.sessionHeader.toLowerCase(), neutral.sessionHeader.toLowerCase()])
]

/** The query parameters that may stand for the session header. */
export const sessionQueriesOf = ({ names }: Pick<HttpSettings, "names">): ReadonlyArray<string> => [
  ...new Set([names.sessionQuery, neutral.sessionQuery])
]

const bearerQuery = "access_token"

/** Every query parameter that may carry a credential: none of an operation's own. */
export const credentialQueriesOf = (settings: Pick<HttpSettings, "names">): ReadonlyArray<string> => [
  ...sessionQueriesOf(settings),
  bearerQuery
]

/** The name under which browsers keep the session. deployment.md §3.4. */
export const sessionCookieOf = ({ cookies, names }: Pick<HttpSettings, "cookies" | "names">): string =>
  cookies.hostPrefix ? `__Host-${names.sessionCookie}` : names.sessionCookie

/** A request's cookie, without parsing what is not there. */
export const cookieOf = (request: HttpServerRequest.HttpServerRequest, name: string): string | undefined =>
  request.headers["cookie"] === undefined ? undefined : request.cookies[name] || undefined

/** The token of `Authorization: Bearer`, whose scheme's case does not matter. */
export const bearerOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
  const authorization = request.headers["authorization"]
  return authorization === undefined ? undefined : /^bearer\s+(.*)$/i.exec(authorization)?.[1]?.trim() || undefined
}

/** The token of `Authorization: DPoP`, whose scheme's case does not matter (RFC 9449 §7.1). */
export const dpopTokenOf = ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): string | undefined => {
  const authorization = headers["authorization"]
  return authorization === undefined ? undefined : /^dpop\s+(\S+)\s*$/i.exec(authorization)?.[1]
}

/**
 * Reads the first credential a request carries: cookie, query, header, bearer token, and the query's `access_token` where the deployment takes it.
 * A wrong one is not rescued by a right one behind it. identity.md §2.3.
 */
export const credentialReader = (settings: Pick<HttpSettings, "cookies" | "names" | "takesAccessTokenQuery">) => {
  const bearers = settings.takesAccessTokenQuery ? [bearerQuery] : []
  const cookie = sessionCookieOf(settings)
  const headers = sessionHeadersOf(settings)
  const queries = sessionQueriesOf(settings)
  return (request: HttpServerRequest.HttpServerRequest, query: string): string | undefined =>
    cookieOf(request, cookie) ??
    queryValue(query, queries) ??
    headers.map((name) => request.headers[name] || undefined).find((value) => value !== undefined) ??
    bearerOf(request) ??
    dpopTokenOf(request) ??
    (queryValue(query, bearers)?.trim() || undefined)
}
