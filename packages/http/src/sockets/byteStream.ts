/** A byte stream over a WebSocket, as the agents' and clients' RPC runs on. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { type Transport, TransportError } from "@atelier/agent-protocol"
import type { StreamRight } from "@atelier/core/access"
import { Effect, Stream } from "effect"
import { CloseSocket, type Options, WebSockets } from "./WebSockets.js"

/**
 * Upgrades a request and runs its handler on the stream of bytes that binary messages carry. A text message closes with 1003. A session on
 * top that its peer has broken, or whose pings the peer does not answer, closes with 1000 and no reason. wire.md §5.1.
 */
export const byteStreamSocket = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  right: StreamRight,
  handler: (transport: Transport) => Effect.Effect<void, E, R>,
  options?: Options
) =>
  Effect.flatMap(WebSockets, ({ serve }) =>
    serve(
      request,
      right,
      ({ messages, send }) =>
        Effect.gen(function* () {
          let intrusion: CloseSocket | undefined
          const incoming = messages.pipe(
            Stream.mapEffect((message) => {
              if (typeof message !== "string") return Effect.succeed(message)
              intrusion = new CloseSocket({ code: 1003, reason: "This socket takes binary messages." })
              return Effect.fail(intrusion)
            }),
            Stream.mapError((cause) => new TransportError({ cause }))
          )
          yield* handler({
            incoming,
            send: (bytes) => Effect.mapError(send(bytes), (cause) => new TransportError({ cause })),
            // The socket is closed when the handler ends
            close: () => Effect.void
          }).pipe(Effect.catchAllCause((cause) => (intrusion === undefined ? Effect.failCause(cause) : Effect.void)))
          if (intrusion !== undefined) return yield* intrusion
        }),
      // The protocols on top ask by themselves whether the other side is there
      { pingEvery: null, ...options }
    )
  )
