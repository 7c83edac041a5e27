import type { WorkspaceAgentId } from "@atelier/core/agents"
import { AgentDialer, AgentUnreachable, sshPorts } from "@atelier/core/network"
import { MachineAccess, MachineSessions } from "@atelier/core/sandboxes"
import { Effect } from "effect"
import * as contract from "../../contract/sandboxes/ssh.js"
import { beginPassage, passageOptions } from "../../sockets/agentPassage.js"
import type { Connection } from "../../sockets/Connection.js"
import { WebSockets } from "../../sockets/WebSockets.js"
import { TooManyRequests } from "../../wire/errors.js"
import * as Handlers from "../Handlers.js"

/** How long reaching the agent may take. */
const reachWithin = "30 seconds"

type Unreached = TooManyRequests | Effect.Effect.Error<ReturnType<MachineAccess["Type"]["refuseUnreached"]>>

const unanswered = new AgentUnreachable({ message: "The workspace's agent does not answer." })

export const ssh = Handlers.group(contract.ssh, (handlers) =>
  Effect.gen(function* () {
    const access = yield* MachineAccess
    const sessions = yield* MachineSessions
    const { dial } = yield* AgentDialer

    /** Why no stream to an agent was opened. */
    const refuseUnreached =
      (id: WorkspaceAgentId) =>
      (error: AgentUnreachable): Effect.Effect<never, Unreached> =>
        error.reason === "busy" ? new TooManyRequests({ message: error.message }) : access.refuseUnreached(id, error)

    return handlers
      .handle("getSshHostKey", ({ path }) => access.hostKey(path.workspaceagent))
      .handle("openSsh", ({ path, request, urlParams: { client = "ssh" } }) =>
        Effect.gen(function* () {
          const [right, agent] = yield* access.open(path.workspaceagent)
          const { agent_id, workspace_id } = agent
          const { attach } = yield* WebSockets
          const dialing = access.reach(agent, dial({ agent_id, workspace_id, port: sshPorts[client] }))
          const prepare = Effect.gen(function* () {
            const stream = yield* Effect.timeoutFail(dialing, { duration: reachWithin, onTimeout: () => unanswered }).pipe(
              Effect.catchAll(refuseUnreached(agent_id))
            )
            yield* sessions.connect(agent, client)
            return (connection: Connection) => beginPassage(connection, stream)
          })
          return yield* attach(request, right, prepare, passageOptions)
        })
      )
  })
)
