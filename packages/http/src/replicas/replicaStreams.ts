/**
 * Streams to agents that are connected to other processes of the deployment. Those of an agent share a connection, as they share the agent's own: what several of them
 * carry in one turn of the event loop needs one write. agents-and-apps.md §17.
 */
import { ReverseStream, SessionEnded } from "@atelier/agent-protocol"
import { AgentUnreachable, type OtherProcess, ReplicaStreams } from "@atelier/core/network"
import { service, Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { open } from "../sockets/Connection.js"
import { asAgentStream } from "./carrying.js"
import { makeConnect } from "./connectProcess.js"
import { makeKept } from "./keptSessions.js"
import { sessionOver } from "./session.js"
import { streamsPath } from "./wire.js"

/** How long a connection without streams is kept. */
const keptFor = "30 seconds"

/** An agent at another process. */
type Place = Pick<OtherProcess, "address" | "id"> & { readonly agent_id: Uuid.Uuid }

/** The other side closes without the end of the stream when the service there ends. */
const interrupted = new AgentUnreachable({ message: "The stream to the workspace's agent was interrupted." })

const refused = ({ message, reason }: ReverseStream.Unreachable): AgentUnreachable =>
  new AgentUnreachable({ message, ...(reason === undefined ? {} : { reason }) })

export const layer = service(
  ReplicaStreams,
  Effect.gen(function* () {
    const connect = yield* makeConnect
    const sessions = yield* makeKept(
      ({ agent_id, ...process }: Place) =>
        Effect.gen(function* () {
          const { isHidden, socket, webSocket } = yield* connect(process, streamsPath, agent_id)
          // The session learns of its end by itself
          const connection = open(webSocket, { isStream: true }, () => undefined, socket, { isHidden })
          webSocket.resume()
          return yield* sessionOver(connection, "client")
        }),
      keptFor,
      (error) => error instanceof SessionEnded
    )

    const opened = (place: Place, request: ReverseStream.Request) => sessions.use(place, (session) => ReverseStream.open(session, request))

    return {
      open: ({ address, id }, { agent_id, port }) =>
        Effect.gen(function* () {
          const place = { id, address, agent_id }
          const origin = (yield* CurrentRequest).id
          const request = { kind: "tcp", port, ...(origin === Uuid.nil ? {} : { request_id: origin }) } as const
          // A connection that is kept may have ended. Of the stream, the agent has had the request at most
          const stream = yield* Effect.catchTag(opened(place, request), "SessionEnded", () => opened(place, request))
          return asAgentStream(stream, interrupted)
        }).pipe(Effect.catchTags({ Unreachable: refused, SessionEnded: () => interrupted, StreamReset: () => interrupted }))
    }
  })
)
