/** The messages that pass between a client and an app: the request as the app gets it, and the head of the answer as the client gets it. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { withQuery } from "../server/codec/withQuery.js"
import type { Admission } from "../server/pipeline/AppServer.js"
import type { AppPath } from "../server/request/appPath.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { withLeave, withVary } from "./appCors.js"
import { requestHeaders, responseHeaders, type Scope as CookieScope, withoutCredentials } from "./appHeaders.js"
import type { AppPlaces } from "./appPlaces.js"
import { joined, rawHeadersOf } from "./appRequest.js"

type Request = HttpServerRequest.HttpServerRequest

type Headers = Record<string, string | Array<string>>

/** What was made of a head of an answer, and what for. */
interface Repeated {
  readonly base: string
  readonly isPath: boolean
  readonly origin: string | undefined
  readonly cors_behavior: Admission["target"]["cors_behavior"]
  readonly headers: Headers
}

/** Headers for one answer. A host may change what it gets, its lists too: Node itself appends to the list that it was given. */
const ownOf = (made: Headers): Headers => {
  const headers = { ...made }
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = [...value]
  }
  return headers
}

export const appMessages = (
  { names, version }: Pick<HttpSettings, "names" | "version">,
  { forwardingOf, originOf, placeOf }: Pick<AppPlaces, "forwardingOf" | "originOf" | "placeOf">
) => {
  const toApp = requestHeaders(names)
  const fromApp = responseHeaders(names)
  const requestIdHeader = names.requestIdHeader.toLowerCase()
  const buildVersionHeader = names.buildVersionHeader.toLowerCase()
  /** What was made of heads of answers that apps have repeated on a connection. */
  const repeated = new WeakMap<ReadonlyArray<string>, Repeated>()

  /** The part of an answer's head that is the same for equal requests. */
  const madeOf = (
    rawHeaders: ReadonlyArray<string>,
    isPath: boolean,
    base: string,
    isSimple: boolean,
    origin: string | undefined
  ): Headers => {
    const scope: CookieScope = isPath ? { _tag: "Path", base } : { _tag: "Host" }
    const said = fromApp(rawHeaders, scope)
    const headers = isSimple ? withLeave(said, origin, isPath) : said
    headers[buildVersionHeader] = version
    if (isPath) headers["vary"] = withVary(headers["vary"], ["Origin", "Cookie"])
    return headers
  }

  return {
    /** A query as the app gets it. */
    queryOf: withoutCredentials(names),

    /** The path of the request as the app gets it. */
    pathOf: ({ path }: AppPath, url: URL, query: string): string => withQuery(joined(url, path), query),

    /** The head of the request as the app gets it, by the client's head and connection alone. */
    linesOf: (request: Request, info: RequestInfo, peer: string): ReadonlyArray<string> =>
      toApp(rawHeadersOf(request), forwardingOf(request, info, peer)),

    /** The head of the app's answer as the client gets it. A repeated one is the same list as before. */
    headersOf: (
      rawHeaders: ReadonlyArray<string>,
      request: Request,
      info: RequestInfo,
      app: AppPath,
      { cookies, target: { cors_behavior } }: Pick<Admission, "cookies" | "target">,
      isRepeated = false
    ): Headers => {
      const isPath = app.address.access_method === "path"
      const origin = cors_behavior === "simple" ? originOf(request, app, placeOf(info)) : undefined
      const { base } = app
      const before = isRepeated ? repeated.get(rawHeaders) : undefined
      const isSame = before?.base === base && before.isPath === isPath && before.origin === origin && before.cors_behavior === cors_behavior
      const made = isSame ? before.headers : madeOf(rawHeaders, isPath, base, cors_behavior === "simple", origin)
      if (isRepeated && !isSame) repeated.set(rawHeaders, { base, isPath, origin, cors_behavior, headers: { ...made } })
      const headers = ownOf(made)
      headers[requestIdHeader] = info.id
      if (cookies.length > 0) headers["set-cookie"] = [...(headers["set-cookie"] ?? []), ...cookies]
      return headers
    }
  }
}

export type AppMessages = ReturnType<typeof appMessages>
