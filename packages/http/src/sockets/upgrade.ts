/** Makes WebSockets of requests. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { PromptWebSocket } from "./PromptWebSocket.js"
import * as Upgrades from "../server/connection/Upgrades.js"

/**
 * Makes a WebSocket of a request whose handshake is not refused, on its connection, and pauses it until it has listeners. Returns undefined where the host does not
 * pass upgrades on.
 */
export const upgrade = (
  request: HttpServerRequest.HttpServerRequest,
  maxPayload: number,
  { subprotocols = [] }: { readonly subprotocols?: ReadonlyArray<string> },
  headers: Readonly<Record<string, string>>
): { readonly webSocket: PromptWebSocket; readonly socket: Duplex; readonly release: () => void } | undefined => {
  const taken = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
  if (taken === undefined || !(request.source instanceof IncomingMessage)) return undefined
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: PromptWebSocket,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => subprotocols.find((protocol) => offered.has(protocol)) ?? false
  })
  server.on("headers", (lines) => lines.push(...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)))
  let webSocket: PromptWebSocket | undefined
  server.handleUpgrade(request.source, taken.socket, taken.head, (opened) => {
    webSocket = opened
  })
  if (webSocket === undefined) {
    taken.release()
    return undefined
  }
  // Without a listener, messages would be lost
  webSocket.pause()
  return { webSocket, socket: taken.socket, release: taken.release }
}
