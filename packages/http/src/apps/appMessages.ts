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

export const appMessages = (
  { names, version }: Pick<HttpSettings, "names" | "version">,
  { forwardingOf, originOf, placeOf }: Pick<AppPlaces, "forwardingOf" | "originOf" | "placeOf">
) => {
  const toApp = requestHeaders(names)
  const fromApp = responseHeaders(names)
  const requestIdHeader = names.requestIdHeader.toLowerCase()
  const buildVersionHeader = names.buildVersionHeader.toLowerCase()

  return {
    /** A query as the app gets it. */
    queryOf: withoutCredentials(names),

    /** The path and the head of the request as the app gets it. */
    requestOf: (request: Request, info: RequestInfo, peer: string, app: AppPath, url: URL, query: string) => ({
      path: withQuery(joined(url, app.path), query),
      headers: toApp(rawHeadersOf(request), forwardingOf(request, info, peer))
    }),

    /** The head of the app's answer as the client gets it. */
    headersOf: (
      rawHeaders: ReadonlyArray<string>,
      request: Request,
      info: RequestInfo,
      app: AppPath,
      { cookies, target }: Pick<Admission, "cookies" | "target">
    ) => {
      const isPath = app.address.access_method === "path"
      const scope: CookieScope = isPath ? { _tag: "Path", base: app.base } : { _tag: "Host" }
      const said = fromApp(rawHeaders, scope)
      const headers = target.cors_behavior === "simple" ? withLeave(said, originOf(request, app, placeOf(info)), isPath) : said
      headers[buildVersionHeader] = version
      headers[requestIdHeader] = info.id
      if (isPath) headers["vary"] = withVary(headers["vary"], ["Origin", "Cookie"])
      if (cookies.length > 0) headers["set-cookie"] = [...(headers["set-cookie"] ?? []), ...cookies]
      return headers
    }
  }
}

export type AppMessages = ReturnType<typeof appMessages>
