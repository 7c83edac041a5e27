import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Forbidden, Invalid } from "@atelier/core/platform"
import { UpgradeRequired } from "../wire/errors.js"
import { refuse } from "../server/codec/respond.js"

const noOrigins: ReadonlySet<string> = new Set()

const keyPattern = /^[0-9A-Za-z+/]{22}==$/

/**
 * Returns the response to a request that cannot become a WebSocket; undefined if it can. agents-and-apps.md §0. `origins` are further hosts
 * whose pages may connect; `"*"` admits all hosts. `listed` are origins that the deployment admits everywhere.
 */
export const refuseHandshake = (
  request: HttpServerRequest.HttpServerRequest,
  origins: ReadonlyArray<string> | "*",
  listed: ReadonlySet<string> = noOrigins
): HttpServerResponse.HttpServerResponse | undefined => {
  const { headers } = request
  if (!lists(headers["connection"], "upgrade") || !lists(headers["upgrade"], "websocket")) return upgradeRequired
  if (request.method !== "GET") return HttpServerResponse.empty({ status: 405, headers: { allow: "GET" } })
  if (headers["sec-websocket-version"] !== "13") return unsupportedVersion
  if (!keyPattern.test(headers["sec-websocket-key"] ?? "")) return missingKey
  const { origin } = headers
  if (origin === undefined || origins === "*" || listed.has(origin)) return undefined
  const host = URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined
  return host !== undefined && [headers["host"] ?? "", ...origins].some((allowed) => allowed.toLowerCase() === host)
    ? undefined
    : foreignOrigin
}

const lists = (header: string | undefined, token: string): boolean =>
  header !== undefined && header.split(",").some((item) => item.trim().toLowerCase() === token)

const upgradeRequired = HttpServerResponse.setHeaders(
  refuse(new UpgradeRequired({ message: "This operation answers over a WebSocket only." })),
  { connection: "Upgrade", upgrade: "websocket" }
)

const unsupportedVersion = HttpServerResponse.setHeader(
  refuse(new Invalid({ message: "The WebSocket protocol version is not supported." })),
  "sec-websocket-version",
  "13"
)

const missingKey = refuse(new Invalid({ message: "The Sec-WebSocket-Key header is missing or invalid." }))

const foreignOrigin = refuse(new Forbidden({ message: "Pages of this origin may not connect." }))
