import type { WorkspaceAgentId } from "@atelier/core/agents"
import { AgentDialer, AgentUnreachable, sshPorts } from "@atelier/core/network"
import { MachineAccess, MachineSessions } from "@atelier/core/sandboxes"
import { Effect } from "effect"
import * as contract from "../../contract/sandboxes/ssh.js"
import { Settings } from "../../server/request/Settings.js"
import { passage } from "../../sockets/agentPassage.js"
import { byteStreamSocket } from "../../sockets/byteStream.js"
import { refuseHandshake } from "../../sockets/handshake.js"
import { TooManyRequests } from "../../wire/errors.js"
import * as Handlers from "../Handlers.js"

/** How long reaching the agent may take. */
const reachWithin = "30 seconds"

/** How long a client may take to accept bytes, as its user's machine may sleep. */
const sendWithin = "60 seconds"

type Unreached = TooManyRequests | Effect.Effect.Error<ReturnType<MachineAccess["Type"]["refuseUnreached"]>>

const unanswered = new AgentUnreachable({ message: "The workspace's agent does not answer." })

export const ssh = Handlers.group(contract.ssh, (handlers) =>
  Effect.gen(function* () {
    const access = yield* MachineAccess
    const sessions = yield* MachineSessions
    const { dial } = yield* AgentDialer
    const { cors } = yield* Settings

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
          const refused = refuseHandshake(request, [], cors.origins)
          if (refused !== undefined) return refused
          const { agent_id, workspace_id } = agent
          const dialing = access.reach(agent, dial({ agent_id, workspace_id, port: sshPorts[client] }))
          const stream = yield* Effect.timeoutFail(dialing, { duration: reachWithin, onTimeout: () => unanswered }).pipe(
            Effect.catchAll(refuseUnreached(agent_id))
          )
          yield* sessions.connect(agent, client)
          return yield* byteStreamSocket(request, right, (socket) => passage(socket, stream), { pingEvery: "15 seconds", sendWithin })
        })
      )
  })
)
