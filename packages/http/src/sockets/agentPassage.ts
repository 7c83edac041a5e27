/** The bytes of a stream to an agent, on their way to a client and back. */
import { type AgentStream, AgentUnreachable, type DirectStream } from "@atelier/core/network"
import { agentBytes } from "@atelier/node"
import { Effect, Exit, type Scope } from "effect"
import { CloseSocket, type SocketClosed } from "./closing.js"
import type { Connection } from "./Connection.js"
import type { Options } from "./WebSockets.js"
import { passOn, type SocketStream, socketStream } from "./socketStream.js"

/** The options for a passage's socket. The service asks whether the client is there, since no protocol on top of it does. */
export const passageOptions = { isStream: true, pingEvery: "15 seconds" } as const satisfies Options

/** How a client learns that its stream to an agent is broken off. */
export const lost = ({ message }: Error): CloseSocket => new CloseSocket({ code: 1011, reason: message })

const silent = new AgentUnreachable({ message: "The client takes too long to receive." })

const textMessage = new CloseSocket({ code: 1003, reason: "This socket takes binary messages." })

const intruded = new AgentUnreachable({ message: textMessage.reason })

/** What takes the agent's bytes for the client. `over` is called once all of them have left. */
const delivery = ({ direct }: SocketStream, over: () => void): DirectStream => {
  let unsent = 0
  let isFinished = false
  const endIfSent = (): void => {
    if (isFinished && unsent === 0) over()
  }
  return {
    ...direct,
    put: (bytes, done, sent) => {
      unsent += 1
      direct.put(bytes, done, () => {
        unsent -= 1
        sent?.()
        endIfSent()
      })
    },
    finish: () => {
      isFinished = true
      direct.finish()
      endIfSent()
    }
  }
}

/**
 * Begins to pass bytes on in both directions, no faster than they are taken, until the agent ends its own, or the client closes. Then it ends the connection. Bytes of the
 * agent have left once they are sent, and their memory is used again. No fiber waits for bytes.
 */
export const beginPassage = (connection: Connection, stream: AgentStream): Effect.Effect<void, never, Scope.Scope> =>
  Effect.map(agentBytes(stream), (agent) => {
    const { end } = connection
    let closed: Exit.Exit<void, SocketClosed> | undefined
    // The client's close comes behind what it has sent before
    const over = (error: Error): void => end(closed ?? Exit.fail(lost(error)))
    const onText = (): AgentUnreachable => {
      end(Exit.fail(textMessage))
      return intruded
    }
    const client = socketStream(connection, { silent, onText })
    client.receive((exit) => {
      closed = exit
    })
    passOn(
      agent,
      delivery(client, () => end(Exit.void)),
      over
    )
    passOn(client.direct, agent, over)
  })
