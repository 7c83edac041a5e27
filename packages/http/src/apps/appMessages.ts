/** The messages that pass between a client and an app: the request as the app gets it, and the head of the answer as the client gets it. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { withQuery } from "../server/codec/withQuery.js"
import type { ServerResponse } from "node:http"
import { WrittenHead } from "../server/connection/WrittenHead.js"
import type { Admission, Admitted } from "../server/pipeline/AppServer.js"
import type { AppPath } from "../server/request/appPath.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { withLeave, withVary } from "./appCors.js"
import { requestHeaders, responseHeaders, type Scope as CookieScope, withoutCredentials } from "./appHeaders.js"
import type { AppPlaces } from "./appPlaces.js"
import { joined, rawHeadersOf } from "./appRequest.js"

type Request = HttpServerRequest.HttpServerRequest

type Headers = Record<string, string | Array<string>>

/** What the head of an answer depends on, beside what the app says. */
export interface Asked extends Pick<Admitted, "app" | "info"> {
  readonly request: Request
  readonly admission: Pick<Admission, "cookies" | "target">
}

/** What was made of a head of an answer, and what for. */
interface Repeated {
  readonly base: string
  readonly isPath: boolean
  readonly origin: string | undefined
  readonly cors_behavior: Admission["target"]["cors_behavior"]
  readonly cookies: ReadonlyArray<string>
  readonly headers: Headers
  /** As Node wrote it for the last answer; undefined for a head that it would write otherwise for the next one. */
  written: WrittenHead | undefined
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

  /** The other origin from which the app may be read; undefined where the app decides about it. */
  const readerOf = ({ admission: { target }, app, info, request }: Asked): string | undefined =>
    target.cors_behavior === "simple" ? originOf(request, app, placeOf(info)) : undefined

  /** The head of an answer but for the id of its request. */
  const madeOf = (
    rawHeaders: ReadonlyArray<string>,
    { admission: { cookies, target }, app }: Asked,
    origin: string | undefined
  ): Headers => {
    const isPath = app.address.access_method === "path"
    const scope: CookieScope = isPath ? { _tag: "Path", base: app.base } : { _tag: "Host" }
    const said = fromApp(rawHeaders, scope)
    const headers = target.cors_behavior === "simple" ? withLeave(said, origin, isPath) : said
    headers[buildVersionHeader] = version
    if (isPath) headers["vary"] = withVary(headers["vary"], ["Origin", "Cookie"])
    if (cookies.length > 0) headers["set-cookie"] = [...(headers["set-cookie"] ?? []), ...cookies]
    return headers
  }

  /** What was made of a head that an app has repeated. One that was made for another app, reader or caller is made anew. */
  const repeatedOf = (rawHeaders: ReadonlyArray<string>, asked: Asked): Repeated => {
    const { cookies, target } = asked.admission
    const { address, base } = asked.app
    const isPath = address.access_method === "path"
    const origin = readerOf(asked)
    const before = repeated.get(rawHeaders)
    const isSame =
      before?.base === base &&
      before.isPath === isPath &&
      before.origin === origin &&
      before.cors_behavior === target.cors_behavior &&
      (before.cookies === cookies || before.cookies.length + cookies.length === 0)
    if (isSame) return before
    const headers = madeOf(rawHeaders, asked, origin)
    const made = { base, isPath, origin, cors_behavior: target.cors_behavior, cookies, headers, written: undefined }
    repeated.set(rawHeaders, made)
    return made
  }

  return {
    /** A query as the app gets it. */
    queryOf: withoutCredentials(names),

    /** The path of the request as the app gets it. */
    pathOf: ({ path }: AppPath, url: URL, query: string): string => withQuery(joined(url, path), query),

    /** The head of the request as the app gets it, by the client's head and connection alone. */
    linesOf: (request: Request, info: RequestInfo, peer: string): ReadonlyArray<string> =>
      toApp(rawHeadersOf(request), forwardingOf(request, info, peer)),

    /** The head of the app's answer as the client gets it. */
    headersOf: (rawHeaders: ReadonlyArray<string>, asked: Asked): Headers => {
      const headers = madeOf(rawHeaders, asked, readerOf(asked))
      headers[requestIdHeader] = asked.info.id
      return headers
    },

    /** Writes the head of the app's answer to a client's response. `isRepeated` tells that the app has sent the same list before. */
    writeHead: (client: ServerResponse, status: number, rawHeaders: ReadonlyArray<string>, isRepeated: boolean, asked: Asked): void => {
      const { id } = asked.info
      const known = isRepeated ? repeatedOf(rawHeaders, asked) : undefined
      if (known?.written?.writeTo(client, id) === true) return
      const headers = known === undefined ? madeOf(rawHeaders, asked, readerOf(asked)) : ownOf(known.headers)
      headers[requestIdHeader] = id
      if (asked.app.address.access_method === "path") headers["x-content-type-options"] = "nosniff"
      if (known === undefined) client.writeHead(status, headers)
      else known.written = WrittenHead.write(client, status, headers, id)
    }
  }
}

export type AppMessages = ReturnType<typeof appMessages>
