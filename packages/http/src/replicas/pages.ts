/** Where other processes of the deployment reach agents that are connected to this one. agents-and-apps.md §17. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Replicas } from "@atelier/core/deployment"
import { AgentLinks, type AgentStream, AgentUnreachable } from "@atelier/core/network"
import { NotFound, Unauthenticated } from "@atelier/core/platform"
import { Deferred, Effect, Option, Stream } from "effect"
import { UpgradeRequired } from "../errors.js"
import { CurrentRequest } from "../server/CurrentRequest.js"
import { Draining } from "../server/Draining.js"
import type { Page } from "../server/HttpApplication.js"
import { refuse } from "../server/respond.js"
import { StoreFaults } from "../server/StoreFaults.js"
import { refuseHandshake } from "../sockets/handshake.js"
import { CloseSocket, type Connection, runSocket, upgrade } from "../sockets/WebSockets.js"
import { Passes } from "./Passes.js"
import { answerHeader, ended, maximumMessage, streamsPath } from "./wire.js"

const lost = ({ message }: AgentUnreachable) => new CloseSocket({ code: 1011, reason: message })

/** Passes bytes on in both directions, until the other process closes the socket. */
const passedOn = ({ messages, send }: Connection, stream: AgentStream) => {
  const input = Stream.runForEach(messages, (message) =>
    typeof message === "string" ? stream.finish : Effect.mapError(stream.write(message), lost)
  )
  const output: Effect.Effect<void, unknown> = Effect.flatMap(
    Effect.mapError(stream.read, lost),
    Option.match({ onNone: () => send(ended), onSome: (bytes) => Effect.zipRight(send(bytes), output) })
  )
  return Effect.raceFirst(input, Effect.zipRight(output, Effect.never))
}

/** The route of other processes. Without their pass nothing is told, not even whether the agent is here. */
export const replicaPages = Effect.gen(function* () {
  const { id } = yield* Replicas
  const links = yield* AgentLinks
  const passes = yield* Passes
  const draining = yield* Draining
  const faults = yield* StoreFaults

  const page: Page = {
    method: "GET",
    path: streamsPath,
    handler: Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const [, text = ""] = /^Replica (\S+)$/.exec(request.headers["authorization"] ?? "") ?? []
      const pass = yield* passes.redeem(text, id)
      if (Option.isNone(pass)) return refuse(new Unauthenticated({ message: "This address is for other processes of the service." }))
      const refusal = refuseHandshake(request, [])
      if (refusal !== undefined) return refusal
      const { agent_id, answer, port } = pass.value
      const link = links.of(agent_id)
      if (link === undefined) return refuse(new NotFound({ resource: "workspace_agent" }))
      const opened = yield* Effect.either(link.open(port))
      if (opened._tag === "Left") return refuse(new NotFound({ message: opened.left.message }))
      const socket = upgrade(request, maximumMessage, {}, { [answerHeader]: answer })
      if (socket === undefined) return refuse(new UpgradeRequired({ message: "The connection cannot be upgraded." }))
      const { counted } = yield* CurrentRequest
      counted?.upgraded()
      const over = yield* Deferred.make<void, unknown>()
      const run = runSocket(
        socket.webSocket,
        over,
        (connection) => passedOn(connection, opened.right),
        { draining, faults },
        {
          sendWithin: "60 seconds"
        }
      )
      yield* Effect.ensuring(run, Effect.sync(socket.release))
      return HttpServerResponse.empty()
    }).pipe(Effect.scoped)
  }
  return [page]
})
