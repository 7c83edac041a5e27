/** The bytes of a stream to an agent, on their way to a client and back. */
import type { AgentStream, AgentUnreachable } from "@atelier/core/network"
import { Effect, Option, Stream } from "effect"
import type { ByteSocket } from "./byteStream.js"
import { CloseSocket } from "./closing.js"

/** How a client learns that its stream to an agent is broken off. */
export const lost = ({ message }: AgentUnreachable): CloseSocket => new CloseSocket({ code: 1011, reason: message })

/** Sends what the agent sends until it ends. Bytes have left once they are sent, and their memory is used again. */
const output = (stream: AgentStream, socket: Pick<ByteSocket, "givesBack" | "send">): Effect.Effect<void, unknown> =>
  Effect.flatMap(
    Effect.mapError(stream.read, lost),
    Option.match({
      onNone: () => Effect.void,
      onSome: (bytes) => {
        const giveBack = socket.givesBack(bytes)
        return Effect.flatMap(socket.send(bytes), () => {
          giveBack?.()
          return output(stream, socket)
        })
      }
    })
  )

/** Passes bytes on in both directions until the agent ends its own, no faster than they are taken. */
export const passage = (socket: Pick<ByteSocket, "givesBack" | "incoming" | "send">, stream: AgentStream): Effect.Effect<void, unknown> => {
  const input = Stream.runForEach(socket.incoming, (bytes) => Effect.mapError(stream.write(bytes), lost))
  return Effect.raceFirst(input, output(stream, socket))
}
