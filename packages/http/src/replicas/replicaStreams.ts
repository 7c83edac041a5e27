/** Streams to agents that are connected to other processes of the deployment. agents-and-apps.md §17. */
import { type AgentStream, AgentUnreachable, ReplicaStreams } from "@atelier/core/network"
import { Chunk, Effect, Layer, Option, type Scope, Stream } from "effect"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { type Connection, heartbeatScoped, open } from "../sockets/WebSockets.js"
import { makeConnect } from "./connectProcess.js"
import { ended, pieceBytes, streamsPath } from "./wire.js"

const asUnreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** The bytes of a connection's messages, until it says that they have ended. */
const readerOf = ({ messages }: Connection): Effect.Effect<AgentStream["read"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const pull = yield* Stream.toPull(messages)
    let waiting: ReadonlyArray<string | Uint8Array> = []
    let isOver = false
    const read: AgentStream["read"] = Effect.suspend(() => {
      if (isOver) return Effect.succeedNone
      const [first, ...rest] = waiting
      waiting = rest
      if (typeof first === "string") {
        isOver = true
        return Effect.succeedNone
      }
      if (first !== undefined) return first.length === 0 ? read : Effect.succeedSome(first)
      return Effect.matchEffect(pull, {
        onFailure: (error) =>
          Option.match(error, {
            // The other side closes without the end of the stream when the service there ends
            onNone: () => new AgentUnreachable({ message: "The stream to the workspace's agent was interrupted." }),
            onSome: asUnreachable
          }),
        onSuccess: (chunk) => {
          waiting = Chunk.toReadonlyArray(chunk)
          return read
        }
      })
    })
    return read
  })

export const layer = Layer.effect(
  ReplicaStreams,
  Effect.gen(function* () {
    const connect = yield* makeConnect
    const heartbeats = yield* Heartbeat
    return {
      open: (process, { agent_id, port }) =>
        Effect.gen(function* () {
          const webSocket = yield* connect(process, streamsPath, { agent_id, port })
          // A reader and writers learn of its end by themselves
          const connection = yield* open(webSocket, { sendWithin: "60 seconds" }, () => undefined)
          webSocket.resume()
          yield* heartbeatScoped(heartbeats, webSocket)
          const send = (message: string | Uint8Array) => Effect.mapError(connection.send(message), asUnreachable)
          return {
            read: yield* readerOf(connection),
            write: (bytes) =>
              Effect.forEach(
                Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
                  bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes)
                ),
                send,
                { discard: true }
              ),
            finish: Effect.ignore(send(ended))
          } satisfies AgentStream
        })
    }
  })
)
