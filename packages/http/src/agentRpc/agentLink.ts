import { ReverseStream, type Session } from "@atelier/agent-protocol"
import { type AgentLink, type AgentStream, AgentUnreachable, apiPort, terminalPort } from "@atelier/core/network"
import { Effect } from "effect"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

const requestOf = (port: number): ReverseStream.Request =>
  port === terminalPort ? { kind: "pty" } : port === apiPort ? { kind: "api" } : { kind: "tcp", port }

/** An agent's session as the service's dialer takes it. agents-and-apps.md §17. */
export const agentLink = (session: Session.Session): AgentLink => ({
  open: (port) =>
    ReverseStream.open(session, requestOf(port)).pipe(
      Effect.map((stream): AgentStream => ({
        read: Effect.mapError(stream.read, unreachable),
        write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
        finish: stream.finish
      })),
      Effect.mapError(unreachable)
    )
})
