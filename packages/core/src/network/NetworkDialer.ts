/** Port: how the process reaches an agent through the private network, if it is a member itself. agents-and-apps.md §17. */
import { Context, type Effect, type Scope } from "effect"
import { type AgentStream, type AgentTarget, AgentUnreachable } from "./AgentDialer.js"

/** At most 123 bytes, as it is also the reason with which terminals close. */
export const inNetworkAlone = new AgentUnreachable({
  message: "This agent is in the private network alone: use the command line or an editor. Browsers need the service's own agent."
})

/** Opens streams through the private network. */
export class NetworkDialer extends Context.Reference<NetworkDialer>()("@atelier/core/NetworkDialer", {
  defaultValue: (): {
    readonly isMember: boolean
    /** Opens a TCP connection to a port of the agent. It is broken off when the scope closes. Always fails in a process that is no member. */
    readonly dial: (target: AgentTarget) => Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope>
  } => ({ isMember: false, dial: () => inNetworkAlone })
}) {}
