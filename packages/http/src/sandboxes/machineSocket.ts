/** WebSockets of an agent's machine, and their messages on the way to clients and back. */
import { UpstreamFailure } from "@atelier/core/platform"
import { Effect, type Scope, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket } from "ws"
import { CloseSocket, SocketClosed } from "../sockets/closing.js"
import { type Connection, open } from "../sockets/Connection.js"

/** Bytes of a message. */
const maximumMessage = 4 * 1024 * 1024

/** Milliseconds that the agent may take to answer. */
const handshakeTimeout = 15_000

export type Opened =
  | { readonly _tag: "Refused"; readonly response: IncomingMessage }
  | { readonly _tag: "Open"; readonly machine: Connection }

/** Asks an agent for a WebSocket, which is closed with the scope. */
export const openMachineSocket = (
  socket: Duplex,
  path: string,
  headers: Readonly<Record<string, string>>
): Effect.Effect<Opened, UpstreamFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new WebSocket(`ws://agent${path}`, {
          createConnection: () => socket,
          headers,
          handshakeTimeout,
          maxPayload: maximumMessage,
          perMessageDeflate: false
        })
    ),
    (webSocket) => Effect.sync(() => webSocket.terminate())
  ).pipe(
    Effect.flatMap((webSocket) =>
      Effect.async<IncomingMessage | WebSocket, UpstreamFailure>((resume) => {
        webSocket.once("open", () => {
          // Nothing is read before there is a reader
          webSocket.pause()
          resume(Effect.succeed(webSocket))
        })
        webSocket.once("unexpected-response", (_, response) => resume(Effect.succeed(response)))
        webSocket.on("error", ({ message }) =>
          resume(new UpstreamFailure({ message: "The workspace's agent did not answer.", detail: message }))
        )
      })
    ),
    Effect.flatMap((opened): Effect.Effect<Opened> => {
      if (!(opened instanceof WebSocket)) return Effect.succeed({ _tag: "Refused", response: opened })
      return Effect.sync(() => {
        const machine = open(opened, { sendWithin: "60 seconds" }, () => undefined)
        opened.resume()
        return { _tag: "Open", machine }
      })
    })
  )

/** How the client is told that the agent's socket has closed. */
const closeOf = ({ code, reason }: SocketClosed): CloseSocket =>
  code === 1006 || code < 1000 || code === 1005
    ? new CloseSocket({ code: 1011, reason: "The connection to the workspace's agent was lost." })
    : new CloseSocket({ code, reason })

/** Passes messages on in both directions, until one side closes. */
export const passMessages = (client: Connection, machine: Connection): Effect.Effect<void, SocketClosed | CloseSocket> =>
  Effect.raceFirst(
    Stream.runForEach(client.messages, (message) => Effect.mapError(machine.send(message), closeOf)),
    Stream.runForEach(Stream.mapError(machine.messages, closeOf), client.send)
  )
