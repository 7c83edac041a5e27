/** How requests to apps come in: the app that each is for, the address that its visitor sees, and the origin whose scripts may read the answer. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { appHosts, type AppPath, type noApp, parseAppPath } from "../server/request/appPath.js"
import { trusts } from "../server/request/ClientAddress.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { HttpSettings } from "../server/request/Settings.js"
import type { AppPlace } from "../server/request/Visit.js"
import { friendlyOrigin, preflightHeaders } from "./appCors.js"
import type { Forwarding } from "./appHeaders.js"

type Request = HttpServerRequest.HttpServerRequest

export interface AppPlaces {
  /** The app that a request is for, by its host or its path. */
  readonly appOf: (request: Pick<Request, "headers" | "url">, peer: string) => AppPath | typeof noApp | undefined
  /** The address that the visitor sees. */
  readonly placeOf: (info: RequestInfo) => AppPlace
  /** The origin of a request if it is another app's of the same user. */
  readonly originOf: (request: Request, app: AppPath, place: AppPlace) => string | undefined
  /** The answer to a browser that asks for leave to send a request. */
  readonly preflightAnswer: (request: Request, app: AppPath, place: AppPlace) => HttpServerResponse.HttpServerResponse
  /** What the app is told of the client. */
  readonly forwardingOf: (request: Request, info: RequestInfo, peer: string) => Forwarding
}

/** `wildcard` is the host pattern of apps with hosts of their own; empty without it. */
export const appPlaces = (
  settings: Pick<HttpSettings, "accessUrl" | "basePath" | "cookies" | "trustedProxies">,
  wildcard: string
): AppPlaces => {
  const { protocol } = new URL(settings.accessUrl)
  const trustsPeer = trusts(settings.trustedProxies)
  const hosts = appHosts(wildcard, settings.accessUrl)
  const here: AppPlace = { hosts, protocol, isSecure: settings.cookies.secure, isElsewhere: false }
  const originOf: AppPlaces["originOf"] = ({ headers }, { address }, place) => friendlyOrigin(place.hosts, address, headers)

  return {
    appOf: (request, peer) => {
      const told = trustsPeer(peer) ? request.headers["x-forwarded-host"] : undefined
      return hosts(told ?? request.headers["host"] ?? "", request.url) ?? parseAppPath(request.url, settings.basePath)
    },
    placeOf: ({ visit }) => visit?.place ?? here,
    originOf,
    preflightAnswer: (request, app, place) =>
      HttpServerResponse.empty({ status: 200, headers: preflightHeaders(originOf(request, app, place), request.headers) }),
    forwardingOf: (request, info, peer) => {
      if (info.visit !== undefined) {
        const { host, ip, place } = info.visit
        return { ip, host, protocol: place.protocol.slice(0, -1), isTrusted: false }
      }
      const isTrusted = trustsPeer(peer)
      const isEncrypted = request.source instanceof IncomingMessage && request.source.socket instanceof TLSSocket
      const told = isTrusted ? request.headers["x-forwarded-proto"]?.split(",")[0]?.trim() : undefined
      return {
        ip: info.ip,
        host: (isTrusted ? request.headers["x-forwarded-host"] : undefined) ?? request.headers["host"] ?? "",
        protocol: isEncrypted ? "https" : told || "http",
        isTrusted
      }
    }
  }
}
