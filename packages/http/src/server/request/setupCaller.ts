/** Who asks for the first user of a deployment. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { SetupCaller } from "@atelier/core/identity"
import { isLoopbackHost } from "@atelier/core/platform"
import { Redacted } from "effect"
import { forwardingHeaders } from "./ClientAddress.js"
import type { RequestInfo } from "./CurrentRequest.js"
import type { HttpSettings } from "./Settings.js"

/**
 * Says whether a request comes from the server's own machine. One that a proxy sends on does not, whatever its address: a proxy is known by its
 * headers, by the host that it was asked for, or by an access URL of other machines.
 */
export const isLocalCaller = (
  { accessUrl }: Pick<HttpSettings, "accessUrl">,
  { headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  { ip, visit }: Pick<RequestInfo, "ip" | "visit">
): boolean => {
  const host = headers["host"] ?? ""
  return (
    visit === undefined &&
    isLoopbackHost(ip) &&
    URL.canParse(`http://${host}`) &&
    isLoopbackHost(new URL(`http://${host}`).hostname) &&
    isLoopbackHost(new URL(accessUrl).hostname) &&
    ![...forwardingHeaders, "via"].some((name) => headers[name] !== undefined)
  )
}

/** Says whether a request asks for the host of the access URL or for a loopback one, at any port. */
export const isForKnownHost = (
  { accessUrl }: Pick<HttpSettings, "accessUrl">,
  { headers, originalUrl }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "originalUrl">
): boolean => {
  // A fetch-style host may leave the header out, and has the name in the URL
  const asked = headers["host"] === undefined ? originalUrl : `http://${headers["host"]}`
  if (!URL.canParse(asked)) return false
  const { hostname } = new URL(asked)
  return isLoopbackHost(hostname) || hostname === new URL(accessUrl).hostname
}

/** The caller with the token that it shows: in a form, or else in the header. */
export const setupCaller = (
  settings: Pick<HttpSettings, "accessUrl" | "names">,
  request: HttpServerRequest.HttpServerRequest,
  info: RequestInfo,
  token = request.headers[settings.names.setupTokenHeader.toLowerCase()] ?? ""
): SetupCaller => ({
  isLocal: isLocalCaller(settings, request, info),
  isKnownHost: isForKnownHost(settings, request),
  token: Redacted.make(token)
})
