/** JSON documents over a WebSocket, in both directions. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { StreamRight } from "@atelier/core/access"
import { type Duration, Effect, Either, type Schema, Stream } from "effect"
import { bodyReader } from "../server/codec/decode.js"
import { encoder } from "./json.js"
import { CloseSocket } from "./closing.js"
import { WebSockets } from "./WebSockets.js"

/** What the two sides of a socket say. */
interface Dialogue<A, I, B, J> {
  /** What the client sends; read as the body of a request is. */
  readonly incoming: Schema.Schema<A, I>
  /** Characters of a message of the client. */
  readonly maximumMessage: number
  readonly outgoing: Schema.Schema<B, J>
  /** After this time the socket is closed with 1001. */
  readonly lasts: Duration.DurationInput
}

/**
 * Sends each value that the client's messages lead to. A message that cannot be read closes the socket with 1001, as clients of the reference
 * expect; one that is too long closes it with 1009.
 */
export const dialogueSocket = <A, I, B, J>(
  request: HttpServerRequest.HttpServerRequest,
  { incoming, lasts, maximumMessage, outgoing }: Dialogue<A, I, B, J>,
  right: StreamRight,
  answers: <E>(messages: Stream.Stream<A, E>) => Stream.Stream<B, E>
) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(outgoing)
    const read = bodyReader(incoming.ast)
    const decode = (message: string | Uint8Array) => {
      const text = typeof message === "string" ? message : new TextDecoder().decode(message)
      if (text.length > maximumMessage) return new CloseSocket({ code: 1009, reason: `at most ${maximumMessage} characters` })
      // The reader is made of the schema, so what it reads is of its type
      return Either.mapBoth(read(text), {
        onLeft: ({ message }) => new CloseSocket({ code: 1001, reason: message }),
        onRight: (value) => value as A
      })
    }
    return yield* serve(request, right, ({ messages, send }) =>
      Stream.runForEach(answers(Stream.mapEffect(messages, decode)), (value) => send(encode(value))).pipe(
        Effect.timeoutFail({ duration: lasts, onTimeout: () => new CloseSocket({ code: 1001, reason: "open for too long" }) })
      )
    )
  })
