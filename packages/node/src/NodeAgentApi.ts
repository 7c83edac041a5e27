/** Calls the HTTP API of agents over streams to them, on Node's HTTP client. agents-and-apps.md §11. */
import { AgentApi } from "@atelier/core/agents"
import { AgentDialer, AgentUnreachable, apiPort } from "@atelier/core/network"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { agentExchange } from "./agentExchange.js"
import { agentSocket } from "./agentSocket.js"

/** How long a call may take, from the connection to the last byte of the answer. */
const timeout = "30 seconds"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

export const layer = service(
  AgentApi,
  Effect.map(AgentDialer, ({ dial }) => ({
    call: ({ agent_id, method, path, workspace_id }) =>
      dial({ agent_id, workspace_id, port: apiPort }).pipe(
        Effect.flatMap(agentSocket),
        Effect.flatMap((socket) => Effect.mapError(agentExchange(socket, { method, path, host: "agent" }), unreachable)),
        Effect.scoped,
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () => new AgentUnreachable({ message: "The agent did not answer within 30 seconds." })
        }),
        Effect.flatMap(({ status, text }) =>
          Effect.try({
            try: (): { readonly status: number; readonly body: unknown } => ({ status, body: text === "" ? undefined : JSON.parse(text) }),
            catch: () => new AgentUnreachable({ message: "The agent's answer is not JSON." })
          })
        )
      )
  }))
)
