/** Streams to agents that are connected to other processes of the deployment. agents-and-apps.md §17. */
import { type AgentStream, AgentUnreachable, type OtherProcess, ReplicaStreams } from "@atelier/core/network"
import { Ids } from "@atelier/core/platform"
import { Chunk, Effect, Layer, Option, type Scope, Stream } from "effect"
import { WebSocket } from "ws"
import { type Connection, heartbeat, open } from "../sockets/WebSockets.js"
import { Passes } from "./Passes.js"
import { answerHeader, ended, maximumMessage, pieceBytes, streamsPath } from "./wire.js"

/** Milliseconds that another process may take to answer. */
const handshakeTimeout = 5_000

const unreachable = (detail: string) =>
  new AgentUnreachable({ message: `The process of the service that the workspace's agent is connected to cannot be reached: ${detail}.` })

/** The WebSocket's address of another process. */
const addressOf = ({ address }: OtherProcess): Effect.Effect<string, AgentUnreachable> =>
  URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    ? Effect.succeed(`${address.replace(/^http/, "ws").replace(/\/+$/, "")}${streamsPath}`)
    : unreachable("its address is no URL of http or https")

/** Opens a WebSocket; gives it with the answer of the other side to the pass. */
const opened = (url: string, pass: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly webSocket: WebSocket; readonly answer: string }, AgentUnreachable>((resume) => {
      const webSocket = new WebSocket(url, {
        headers: { authorization: `Replica ${pass}` },
        handshakeTimeout,
        maxPayload: maximumMessage,
        perMessageDeflate: false
      })
      let answer = ""
      webSocket.once("upgrade", ({ headers }) => {
        answer = String(headers[answerHeader] ?? "")
        webSocket.once("open", () => {
          // Nothing is read before there is a reader
          webSocket.pause()
          resume(Effect.succeed({ webSocket, answer }))
        })
      })
      webSocket.once("unexpected-response", (request, response) => {
        request.destroy()
        resume(response.statusCode === 404 ? unreachable("the agent has left it") : unreachable(`it answers ${response.statusCode}`))
      })
      webSocket.on("error", ({ message }) => resume(unreachable(message)))
      return Effect.sync(() => webSocket.terminate())
    }),
    ({ webSocket }) =>
      Effect.sync(() => {
        webSocket.close(1000)
        const timer = setTimeout(() => webSocket.terminate(), handshakeTimeout)
        webSocket.once("close", () => clearTimeout(timer))
        webSocket.resume()
      })
  )

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
            onNone: () => new AgentUnreachable({ message: "The stream to the workspace's agent was broken off." }),
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
    const passes = yield* Passes
    const ids = yield* Ids
    return {
      open: (process, { agent_id, port }) =>
        Effect.gen(function* () {
          const url = yield* addressOf(process)
          const pass = yield* passes.issue(process.id, agent_id, port, yield* ids.next)
          const { answer, webSocket } = yield* opened(url, pass.text)
          if (!(yield* pass.isAnsweredBy(answer))) return yield* unreachable("what answers at its address is no process of the service")
          // A reader and writers learn of its end by themselves
          const connection = yield* open(webSocket, { sendWithin: "60 seconds" }, () => undefined)
          webSocket.resume()
          yield* Effect.forkScoped(Effect.catchAll(heartbeat(webSocket, {}), () => Effect.sync(() => webSocket.terminate())))
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
