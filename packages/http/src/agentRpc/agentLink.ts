import { ReverseStream, type Session } from "@atelier/agent-protocol"
import { type AgentLink, type AgentStream, AgentUnreachable, apiPort, machinePort, terminalPort, unable } from "@atelier/core/network"
import { Effect } from "effect"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** What the agent's own ports stand for. */
const ownPorts: Readonly<Record<number, ReverseStream.Request>> = {
  [terminalPort]: { kind: "pty" },
  [apiPort]: { kind: "api" },
  [machinePort]: { kind: "machine" }
}

/** An agent's session as the service's dialer takes it, and the version of streams that the agent offers. agents-and-apps.md §17. */
export const agentLink = (session: Session.Session, version: number): AgentLink => ({
  open: (port) =>
    port === machinePort && version < ReverseStream.machineVersion
      ? unable
      : ReverseStream.open(session, ownPorts[port] ?? { kind: "tcp", port }).pipe(
          Effect.map((stream): AgentStream => ({
            read: Effect.mapError(stream.read, unreachable),
            write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
            finish: stream.finish
          })),
          Effect.mapError(unreachable)
        )
})
