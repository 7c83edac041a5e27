import { ReverseStream, type Session } from "@atelier/agent-protocol"
import {
  type AgentLink,
  type AgentStream,
  AgentUnreachable,
  apiPort,
  machinePort,
  terminalPort,
  tokenPort,
  unable
} from "@atelier/core/network"
import { Effect } from "effect"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** What the agent's own ports stand for. */
const ownPorts: Readonly<Record<number, ReverseStream.Request>> = {
  [terminalPort]: { kind: "pty" },
  [apiPort]: { kind: "api" },
  [machinePort]: { kind: "machine" },
  [tokenPort]: { kind: "token" }
}

const withoutTokens = new AgentUnreachable({ message: "The workspace's agent takes no other token." })

/** What an agent offers: the version of streams, and whether it takes other tokens. */
export interface LinkOffer {
  readonly streams: number
  readonly takesTokens: boolean
}

/** An agent's session as the service's dialer takes it. agents-and-apps.md §17. */
export const agentLink = (session: Session.Session, { streams, takesTokens }: LinkOffer): AgentLink => ({
  open: (port) => {
    if (port === machinePort && streams < ReverseStream.machineVersion) return unable
    if (port === tokenPort && !takesTokens) return withoutTokens
    return ReverseStream.open(session, ownPorts[port] ?? { kind: "tcp", port }).pipe(
      Effect.map((stream): AgentStream => ({
        read: Effect.mapError(stream.read, unreachable),
        write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
        finish: stream.finish
      })),
      Effect.mapError(unreachable)
    )
  }
})
