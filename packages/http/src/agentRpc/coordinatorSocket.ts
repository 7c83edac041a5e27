import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { DrpcServer, type Router, Session } from "@atelier/agent-protocol"
import type { StreamRight } from "@atelier/core/access"
import { Effect } from "effect"
import { byteStreamSocket } from "../sockets/byteStream.js"
import { connectionLimits } from "./Connections.js"

/** Serves a service over the request's WebSocket, which lasts as long as the right to it. */
export const coordinatorSocket = <R>(request: HttpServerRequest.HttpServerRequest, right: StreamRight, service: Router.Router<R>) =>
  byteStreamSocket(
    request,
    right,
    (transport) =>
      Effect.gen(function* () {
        const session = yield* Session.make(transport, { role: "server", ...connectionLimits })
        yield* DrpcServer.serveSession(session, service, connectionLimits)
      }).pipe(
        Effect.scoped,
        // The socket is closed with the reason
        Effect.catchTag("SessionEnded", () => Effect.void)
      ),
    { pingEvery: "15 seconds" }
  )
