/** The right to the processes and files of a workspace. agents-and-apps.md §17. */
import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { rightWithin, type StreamRight } from "../access/streams/StreamRights.js"
import { AgentRepository } from "../agents/AgentRepository.js"
import { inactivityTimeout, statusAt } from "../agents/AgentStatus.js"
import { type AgentWorkspace, agentWorkspaceObject } from "../agents/AgentWorkspace.js"
import { AgentTunnels } from "../agents/connections/AgentTunnels.js"
import { BuildResourceRepository } from "../agents/resources/BuildResourceRepository.js"
import type { WorkspaceAgentId } from "../agents/WorkspaceAgent.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import type { AgentUnreachable } from "../network/AgentDialer.js"
import { Conflict, NotFound, UpstreamFailure } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { WorkspaceHostKey } from "../workspaces/hostKeys/HostKey.js"
import { HostKeys } from "../workspaces/hostKeys/HostKeys.js"

const missing = new NotFound({ resource: "workspace_agent" })

/** The methods of {@link MachineAccess}. */
export interface MachineAccessService {
  /**
   * Returns the agent whose processes and files the actor asks for, with the right to them, which is the right to connect to the workspace. Fails
   * with `NotFound` without it, and with `Conflict` where the deployment lets clients in through browsers alone. Asks the store once.
   */
  readonly open: (id: WorkspaceAgentId) => Effect.Effect<readonly [StreamRight, AgentWorkspace], NotFound | Conflict, CurrentActor>

  /** Returns the public key by which an SSH client knows the agent's workspace. Fails as `open` does. */
  readonly hostKey: (id: WorkspaceAgentId) => Effect.Effect<WorkspaceHostKey, NotFound | Conflict, CurrentActor>

  /**
   * Fails with why an agent that the actor may reach was not reached: `NotFound` for one that is not connected, `Conflict` for one that serves neither
   * processes nor files, else `UpstreamFailure`.
   */
  readonly refuseUnreached: (id: WorkspaceAgentId, reason: AgentUnreachable) => Effect.Effect<never, NotFound | Conflict | UpstreamFailure>
}

const make = Effect.gen(function* () {
  const agents = yield* AgentRepository
  const parts = yield* BuildResourceRepository
  const tunnels = yield* AgentTunnels
  const keys = yield* HostKeys
  const options = yield* DeploymentOptions
  const inactive = inactivityTimeout(options.agentConnectionUpdateInterval)

  const reachable = (id: WorkspaceAgentId) =>
    Effect.gen(function* () {
      const agent = Option.getOrUndefined(yield* agents.byId(id))
      if (agent === undefined) return yield* missing
      yield* Access.authorizeOrHide("ssh", agentWorkspaceObject(agent), missing)
      yield* tunnels.refuseBrowserOnly
      return agent
    })

  return {
    open: Traced.fn("MachineAccess.open")((id: WorkspaceAgentId) => rightWithin(`machine:${id}`, reachable(id))),

    hostKey: Traced.fn("MachineAccess.hostKey")((id: WorkspaceAgentId) =>
      Effect.flatMap(reachable(id), ({ workspace_id }) => keys.publicOf(workspace_id))
    ),

    refuseUnreached: Traced.fn("MachineAccess.refuseUnreached")(function* (id: WorkspaceAgentId, { message, reason }: AgentUnreachable) {
      if (reason === "unable") return yield* new Conflict({ message })
      const [row] = (yield* parts.ofAgent(id)).agents
      if (row === undefined) return yield* missing
      const { status } = statusAt(row, yield* Timestamp.now, inactive)
      if (status === "connected") return yield* new UpstreamFailure({ message })
      return yield* new NotFound({ message: `The workspace's agent is ${status}, and must be connected.` })
    })
  }
})

/** Who may use the processes and files of workspaces. */
export class MachineAccess extends Context.Tag("@atelier/core/MachineAccess")<MachineAccess, MachineAccessService>() {
  static readonly layer = standingOn(service(MachineAccess, make), AgentTunnels.layer, HostKeys.layer)
}
