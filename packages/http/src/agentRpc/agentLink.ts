import { ReverseStream, type Session } from "@atelier/agent-protocol"
import { type AgentLink, type AgentStream, AgentUnreachable, terminalPort } from "@atelier/core/network"
import { Effect } from "effect"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** An agent's session as the service's dialer takes it. agents-and-apps.md §17. */
export const agentLink = (session: Session.Session): AgentLink => ({
  open: (port) =>
    ReverseStream.open(session, port === terminalPort ? { kind: "pty" } : { kind: "tcp", port }).pipe(
      Effect.map((stream): AgentStream => ({
        read: Effect.mapError(stream.read, unreachable),
        write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
        finish: stream.finish
      })),
      Effect.mapError(unreachable)
    )
})
