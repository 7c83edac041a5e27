/** What a request to an app says: its framing, the app's address below which it goes, and its name in signed tokens. agents-and-apps.md §19, §20. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { withoutTrailingSlashes } from "@atelier/core/platform"
import { IncomingMessage } from "node:http"
import * as Upgrades from "../server/connection/Upgrades.js"
import type { AppPath } from "../server/request/appPath.js"
import type { SignedRequest } from "./SignedAppTokens.js"

type Request = HttpServerRequest.HttpServerRequest

/** Whether Node has handed the connection over, so that a body is not read from it. */
const isHandedOver = ({ source }: Request): boolean => source instanceof IncomingMessage && Upgrades.isOffered(source)

/** How the client ends its body: with a length, by chunks, or without a body. A request for another protocol is sent on without a body. */
export const framingOf = (request: Request): { readonly length: number } | "chunked" | undefined => {
  if (isHandedOver(request)) return undefined
  const { headers } = request
  if (headers["transfer-encoding"] !== undefined) return "chunked"
  const length = headers["content-length"]
  if (length !== undefined) return { length: Number(length) }
  // The headers of a request that a fetch-style host hands over need not tell of its body
  return request.source instanceof globalThis.Request && request.source.body !== null ? "chunked" : undefined
}

/** The head of a request as it came, where the host has kept it. */
export const rawHeadersOf = ({ headers, source }: Request): ReadonlyArray<string> =>
  source instanceof IncomingMessage ? source.rawHeaders : Object.entries(headers).flatMap(([name, value]) => [name, value])

/** The protocol that a client asks for. HTTP/2 would carry requests past this one. */
export const upgradeOf = (request: Request): string | undefined => upgradeIn(request.headers, isHandedOver(request))

const upgradeIn = (headers: Request["headers"], isPossible: boolean): string | undefined =>
  !isPossible || headers["upgrade"] === undefined || /\bh2c?\b/i.test(headers["upgrade"]) ? undefined : headers["upgrade"]

/** The query that the app's address has and the request leaves out. */
export const addedQuery = (url: URL, path: string, query: string): string => (path === "/" && query === "" ? url.search.slice(1) : "")

/** A path below the path of the app's address. */
export const joined = ({ pathname }: URL, path: string): string => `${withoutTrailingSlashes(pathname)}${path}`

/** The app of a request as a signed token names it. */
export const signedRequestOf = ({ address, base, prefix }: AppPath): SignedRequest => ({
  access_method: address.access_method,
  base_path: base,
  app_prefix: prefix,
  username_or_id: address.user,
  workspace_name_or_id: address.workspace,
  agent_name_or_id: address.agent,
  app_slug_or_port: address.slug_or_port
})
