/** The right to the processes and files of a workspace. agents-and-apps.md §17. */
import { Context, Duration, Effect, Option, Queue, type Scope } from "effect"
import * as Access from "../access/Access.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { rightWithin, type StreamRight } from "../access/streams/StreamRights.js"
import { AgentRepository } from "../agents/AgentRepository.js"
import { inactivityTimeout, notConnectedMessages, statusAt } from "../agents/AgentStatus.js"
import { type AgentWorkspace, agentWorkspaceObject } from "../agents/AgentWorkspace.js"
import { AgentTunnels } from "../agents/connections/AgentTunnels.js"
import { BuildResourceRepository } from "../agents/resources/BuildResourceRepository.js"
import type { WorkspaceAgentId } from "../agents/WorkspaceAgent.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import type { AgentUnreachable } from "../network/AgentDialer.js"
import { Conflict, NotFound, UpstreamFailure } from "../platform/Errors.js"
import { EventBus, listen } from "../platform/events/EventBus.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { WorkspaceHostKey } from "../workspaces/hostKeys/HostKey.js"
import { HostKeys } from "../workspaces/hostKeys/HostKeys.js"
import { workspaceEvents } from "../workspaces/watching/WorkspaceEvents.js"

/** How long a request waits for an agent that its build has just started. */
const patience = Duration.seconds(25)

/** How often such an agent is tried without an event: events may be lost. */
const recheck = Duration.seconds(1)

/** Between an agent's first sign of life and its connection for streams. */
const linkedWithin = Duration.seconds(5)

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
   * Dials an agent that the actor may reach. One that a build has started and that has not connected yet is waited for, 25 seconds at most: it connects
   * a moment after the build has ended. Fails as the last try did.
   */
  readonly reach: <A, R>(
    agent: AgentWorkspace,
    dialing: Effect.Effect<A, AgentUnreachable, R>
  ) => Effect.Effect<A, AgentUnreachable, R | Scope.Scope>

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
  const bus = yield* EventBus
  const inactive = inactivityTimeout(options.agentConnectionUpdateInterval)

  /** Whether an agent has not connected yet, or did a moment ago. */
  const isStarting = ({ agent_id, build_transition }: AgentWorkspace) =>
    Effect.gen(function* () {
      const [row] = build_transition === "start" ? (yield* parts.ofAgent(agent_id)).agents : []
      if (row === undefined) return false
      const now = yield* Timestamp.now
      const { first_connected_at: first } = row
      if (first === null) return statusAt(row, now, inactive).status === "connecting"
      return Timestamp.toMillis(now) - Timestamp.toMillis(first) < Duration.toMillis(linkedWithin)
    })

  const reach: MachineAccessService["reach"] = (agent, dialing) =>
    Effect.catchAll(dialing, (error) =>
      Effect.gen(function* () {
        if (error.reason !== undefined || !(yield* isStarting(agent))) return yield* error
        const wakes = yield* Queue.sliding<void>(1)
        yield* listen(workspaceEvents(agent.owner_id), (delivery) => {
          if (delivery._tag === "Lost" || delivery.event.agent_id === agent.agent_id) wakes.unsafeOffer(undefined)
        })
        return yield* Effect.zipRight(Effect.timeoutOption(wakes.take, recheck), dialing).pipe(
          Effect.retry({ while: ({ reason }) => (reason === undefined ? isStarting(agent) : false) }),
          Effect.timeoutFail({ duration: patience, onTimeout: () => error })
        )
      })
    ).pipe(Effect.provideService(EventBus, bus))

  const reachable = (id: WorkspaceAgentId) =>
    Effect.gen(function* () {
      const agent = Option.getOrUndefined(yield* agents.byId(id))
      if (agent === undefined) return yield* missing
      yield* Access.authorizeOrHide("ssh", agentWorkspaceObject(agent), missing)
      yield* tunnels.refuseBrowserOnly
      return agent
    })

  return {
    open: Traced.fn("MachineAccess.open")((id: WorkspaceAgentId) => rightWithin(`machine:${id}`, () => reachable(id))),

    hostKey: Traced.fn("MachineAccess.hostKey")((id: WorkspaceAgentId) =>
      Effect.flatMap(reachable(id), ({ workspace_id }) => keys.publicOf(workspace_id))
    ),

    reach,

    refuseUnreached: Traced.fn("MachineAccess.refuseUnreached")(function* (id: WorkspaceAgentId, { message, reason }: AgentUnreachable) {
      if (reason === "unable") return yield* new Conflict({ message })
      const [row] = (yield* parts.ofAgent(id)).agents
      if (row === undefined) return yield* missing
      const { status } = statusAt(row, yield* Timestamp.now, inactive)
      if (status === "connected") return yield* new UpstreamFailure({ message })
      return yield* new NotFound({ message: notConnectedMessages[status] })
    })
  }
})

/** Who may use the processes and files of workspaces. */
export class MachineAccess extends Context.Tag("@atelier/core/MachineAccess")<MachineAccess, MachineAccessService>() {
  static readonly layer = standingOn(service(MachineAccess, make), AgentTunnels.layer, HostKeys.layer)
}
