import { ReverseStream, type Session } from "@atelier/agent-protocol"
import {
  type AgentLink,
  type AgentStream,
  AgentUnreachable,
  apiPort,
  machinePort,
  type SshClient,
  sshPorts,
  terminalPort,
  tokenPort,
  unable
} from "@atelier/core/network"
import { Effect, Redacted } from "effect"

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

/** What uses a connection of SSH, by the agent's own port. */
const sshClients: ReadonlyMap<number, SshClient> = new Map([
  [sshPorts.ssh, "ssh"],
  [sshPorts.vscode, "vscode"],
  [sshPorts.jetbrains, "jetbrains"]
])

/** An agent's session as the service's dialer takes it. The host key of its workspace is read when SSH is asked for. agents-and-apps.md §17. */
export const agentLink = (
  session: Session.Session,
  { streams, takesTokens }: LinkOffer,
  hostKey: Effect.Effect<Redacted.Redacted>
): AgentLink => ({
  open: (port) => {
    const client = sshClients.get(port)
    if (port === machinePort && streams < ReverseStream.machineVersion) return unable
    if (client !== undefined && streams < ReverseStream.sshVersion) return unable
    if (port === tokenPort && !takesTokens) return withoutTokens
    const request: Effect.Effect<ReverseStream.Request> =
      client === undefined
        ? Effect.succeed(ownPorts[port] ?? { kind: "tcp", port })
        : Effect.map(hostKey, (key) => ({ kind: "ssh", client, host_key: Redacted.value(key) }))
    return Effect.flatMap(request, (asked) => ReverseStream.open(session, asked)).pipe(
      Effect.map((stream): AgentStream => ({
        read: Effect.mapError(stream.read, unreachable),
        write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
        finish: stream.finish
      })),
      Effect.mapError(unreachable)
    )
  }
})
