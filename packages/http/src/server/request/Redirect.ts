import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { trusts } from "./ClientAddress.js"
import type { HttpSettings } from "./Settings.js"

/** Sends callers that use another address, or no encryption, to the access URL. deployment.md §3.3. */
export const redirection = (settings: HttpSettings) => {
  const access = new URL(settings.accessUrl)
  const trustsPeer = trusts(settings.trustedProxies)
  const relay = settings.names.relayReplicaHeader.toLowerCase()

  return (request: HttpServerRequest.HttpServerRequest, path: string, peer: string): HttpServerResponse.HttpServerResponse | undefined => {
    const isOwn = path === "/readyz" || /^\/(?:healthz|derp|internal\/replicas)(?:\/|$)/.test(path)
    if (!settings.redirectToAccessUrl || isOwn || request.headers[relay]) return undefined
    const isEncrypted =
      (request.source instanceof IncomingMessage && request.source.socket instanceof TLSSocket) ||
      (trustsPeer(peer) && request.headers["x-forwarded-proto"]?.split(",")[0]?.trim().toLowerCase() === "https")
    const elsewhere = request.headers["host"] !== access.host && request.headers["x-forwarded-host"] !== access.host
    return elsewhere || (access.protocol === "https:" && !isEncrypted)
      ? HttpServerResponse.redirect(settings.accessUrl, { status: 307 })
      : undefined
  }
}
