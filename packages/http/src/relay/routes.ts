/** Where clients reach the relay: at the root, without a credential, at any host and from any page. agents-and-apps.md §12. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { DeploymentOptions } from "@atelier/core/deployment"
import { Relay } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { IncomingMessage } from "node:http"
import { Unavailable, UpgradeRequired } from "../wire/errors.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { refuse } from "../server/codec/respond.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import * as Upgrades from "../server/connection/Upgrades.js"
import { refuseHandshake } from "../sockets/handshake.js"
import { upgrade } from "../sockets/upgrade.js"
import { RelayServer } from "./RelayServer.js"
import { rawWire, webSocketWire } from "./Wire.js"

const subprotocol = "derp"

/** Bytes of the largest message of a WebSocket: one frame, or a few. */
const maximumMessage = Relay.RelayFrame.headerLength + Relay.RelayFrame.maximumPayload

const tokens = (header: string | undefined): ReadonlyArray<string> => (header ?? "").split(",").map((token) => token.trim().toLowerCase())

const upgradeRequired = HttpServerResponse.setHeaders(
  refuse(new UpgradeRequired({ message: "The relay needs an upgraded connection.", detail: "Upgrade: DERP, or a WebSocket." })),
  { connection: "Upgrade", upgrade: "DERP" }
)

const notUpgraded = refuse(
  new UpgradeRequired({ message: "The connection cannot be upgraded.", detail: "The host does not pass upgrade requests on." })
)

const full = HttpServerResponse.setHeader(refuse(new Unavailable({ message: "The relay has too many clients." })), "retry-after", "5")

/** The connection no longer counts as a request. */
const countSocket = Effect.map(CurrentRequest, ({ counted }) => counted?.upgraded())

/** Serves a client on the connection of its request, which the relay takes out of HTTP. */
const serveRaw = (server: RelayServer["Type"], request: HttpServerRequest.HttpServerRequest) =>
  Effect.suspend(() => {
    const taken = request.source instanceof IncomingMessage ? Upgrades.take(request.source) : undefined
    if (taken === undefined) return Effect.succeed(notUpgraded)
    // A client of fast start knows the key, and does not wait for a head
    if (request.headers["derp-fast-start"] !== "1") taken.socket.write(headOf(server.publicKey()))
    const served = server.serve((events) => {
      const wire = rawWire(taken.socket, events)
      if (taken.head.length > 0) taken.socket.unshift(taken.head)
      return wire
    })
    return Effect.as(Effect.ensuring(Effect.zipRight(countSocket, served), Effect.sync(taken.release)), HttpServerResponse.empty())
  })

const headOf = (publicKey: Uint8Array): string =>
  [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: DERP",
    "Connection: Upgrade",
    "Derp-Version: 2",
    `Derp-Public-Key: ${Buffer.from(publicKey).toString("hex")}`,
    "\r\n"
  ].join("\r\n")

const serveWebSocket = (server: RelayServer["Type"], request: HttpServerRequest.HttpServerRequest) =>
  Effect.suspend(() => {
    const refusal = refuseHandshake(request, "*")
    if (refusal !== undefined) return Effect.succeed(refusal)
    const opened = upgrade(request, maximumMessage, { subprotocols: [subprotocol] }, {})
    if (opened === undefined) return Effect.succeed(notUpgraded)
    const { release, socket, webSocket } = opened
    const served = server.serve((events) => webSocketWire(webSocket, socket, events))
    return Effect.as(Effect.ensuring(Effect.zipRight(countSocket, served), Effect.sync(release)), HttpServerResponse.empty())
  })

/** The routes of the relay; none where it is off. */
export const relayRoutes = Effect.gen(function* () {
  const { derpServerEnable } = yield* DeploymentOptions
  const server = yield* RelayServer
  if (!derpServerEnable) return []
  const relay: Page = {
    method: "GET",
    path: "/derp",
    handler: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const { headers } = request
      const asked = tokens(headers["upgrade"])
      const isWebSocket = asked.includes("websocket")
      if (!isWebSocket && !asked.includes("derp")) return Effect.succeed(upgradeRequired)
      return Effect.flatMap(server.hasRoom, (hasRoom) => {
        if (!hasRoom) return Effect.succeed(full)
        return isWebSocket && tokens(headers["sec-websocket-protocol"]).includes(subprotocol)
          ? serveWebSocket(server, request)
          : serveRaw(server, request)
      })
    })
  }
  const latencyCheck: Page = {
    method: "GET",
    path: "/derp/latency-check",
    handler: Effect.succeed(HttpServerResponse.empty({ status: 200 }))
  }
  return [relay, latencyCheck]
})
