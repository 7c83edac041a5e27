/** Streams to agents that are connected to other processes of the deployment. agents-and-apps.md §17. */
import { ReplicaStreams } from "@atelier/core/network"
import { Effect, Layer } from "effect"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { heartbeatScoped } from "../sockets/heartbeat.js"
import { open } from "../sockets/Connection.js"
import { makeConnect } from "./connectProcess.js"
import { asAgentStream, socketStream } from "../sockets/socketStream.js"
import { streamsPath, termsOf } from "./wire.js"

export const layer = Layer.effect(
  ReplicaStreams,
  Effect.gen(function* () {
    const connect = yield* makeConnect
    const heartbeats = yield* Heartbeat
    return {
      open: (process, { agent_id, port }) =>
        Effect.gen(function* () {
          const { isHidden, socket, webSocket } = yield* connect(process, streamsPath, { agent_id, port })
          // A reader and writers learn of its end by themselves
          const connection = open(webSocket, { isStream: true }, () => undefined, socket, { isHidden })
          webSocket.resume()
          yield* heartbeatScoped(heartbeats, webSocket)
          const { direct, flush, receiving } = socketStream(connection, termsOf(connection))
          yield* Effect.addFinalizer(() => Effect.sync(flush))
          yield* Effect.forkScoped(Effect.ignore(receiving))
          return asAgentStream(direct)
        })
    }
  })
)
