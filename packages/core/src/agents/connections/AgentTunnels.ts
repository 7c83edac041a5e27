/** The right to tunnels to agents. agents-and-apps.md §15, §16. */
import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { rightWithin, StreamRights, type StreamRight } from "../../access/streams/StreamRights.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { ConnectionLogs } from "../../logs/ConnectionLogs.js"
import { AgentLinks } from "../../network/AgentLinks.js"
import { Coordinator, type PeerPolicy } from "../../network/Coordinator.js"
import { refuseAgentNode, refuseClientNode } from "../../network/PeerAddress.js"
import { Conflict, NotFound } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { AgentRepository } from "../AgentRepository.js"
import { type AgentWorkspace, agentWorkspaceObject } from "../AgentWorkspace.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

const missing = new NotFound({ resource: "workspace_agent" })

const unjoined = new Conflict({
  message: "The workspace's agent is not in the private network, by which ssh, ping and port-forward reach agents.",
  detail: "It serves apps, terminals and ports through the service: open the workspace's page in a browser."
})

const refused = "workspace agent not found or you do not have permission"

/** The methods of {@link AgentTunnels}. */
export interface AgentTunnelsService {
  /** Fails with `Conflict` where the deployment lets clients in through browsers alone. */
  readonly refuseBrowserOnly: Effect.Effect<void, Conflict>

  /** The right to reach one agent. Fails with `NotFound` without it. */
  readonly rightToReach: (id: WorkspaceAgentId) => Effect.Effect<readonly [StreamRight, AgentWorkspace], NotFound, CurrentActor>

  /**
   * Fails with `Conflict` where an agent is connected and takes no part in the private network: a client would wait for it for ever. An agent
   * that is not connected may join later.
   */
  readonly refuseUnjoined: (id: WorkspaceAgentId) => Effect.Effect<void, Conflict>

  /** What a client of the acting user may ask the coordinator for: tunnels to agents whose workspaces it may connect to, or to one of them. */
  readonly policyOfClient: (only?: WorkspaceAgentId) => Effect.Effect<PeerPolicy, never, CurrentActor>

  /** What an agent may ask the coordinator for. */
  readonly policyOfAgent: (id: Uuid) => PeerPolicy
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const connections = yield* ConnectionLogs
  const rights = yield* StreamRights
  const options = yield* DeploymentOptions
  const licensed = yield* Entitlements
  const links = yield* AgentLinks
  const coordinator = yield* Coordinator

  /** The agent, for an actor who may connect to its workspace. */
  const reachable = (id: WorkspaceAgentId) =>
    Effect.gen(function* () {
      const agent = Option.getOrUndefined(yield* repository.byId(id))
      if (agent === undefined) return yield* missing
      yield* Access.authorizeOrHide("ssh", agentWorkspaceObject(agent), missing)
      return agent
    })

  /** What the actor asked for, and whether it got it. */
  const record = (agent: AgentWorkspace, code: 101 | 403) =>
    Effect.flatMap(CurrentActor, ({ ip, userAgent, userId }) =>
      connections.note({
        type: "tunnel",
        user_id: userId,
        ip: ip ?? null,
        user_agent: userAgent ?? "",
        slug_or_port: "",
        code,
        organization_id: agent.organization_id,
        workspace_id: agent.workspace_id,
        workspace_name: agent.workspace_name,
        workspace_owner_id: agent.owner_id,
        agent_name: agent.agent_name
      })
    )

  const openTunnel =
    (actor: CurrentActor["Type"], only: WorkspaceAgentId | undefined): PeerPolicy["openTunnel"] =>
    (to, revoke) =>
      Effect.gen(function* () {
        if (only !== undefined && to !== only) return `invalid agent id, expected ${only}, got ${to}`
        const granted = yield* Effect.option(rightWithin(`tunnel:${to}`, () => reachable(to)))
        if (Option.isNone(granted)) {
          const agent = yield* repository.byId(to)
          if (Option.isSome(agent)) yield* record(agent.value, 403)
          return refused
        }
        const [right, agent] = granted.value
        const excess = yield* Effect.either(rights.hold(right, revoke))
        if (excess._tag === "Left") return excess.left.message
        yield* record(agent, 101)
        return undefined
      }).pipe(Effect.provideService(CurrentActor, actor))

  return {
    refuseBrowserOnly: Effect.suspend(() =>
      options.browserOnly && licensed.has("browser_only")
        ? new Conflict({ message: "Workspaces of this deployment can be reached only through the browser." })
        : Effect.void
    ),

    rightToReach: (id: WorkspaceAgentId) => rightWithin(`tunnel:${id}`, () => reachable(id)),

    refuseUnjoined: (id: WorkspaceAgentId) =>
      Effect.suspend(() =>
        coordinator.isConnected(id) ? Effect.void : Effect.flatMap(links.isOffered(id), (isOffered) => (isOffered ? unjoined : Effect.void))
      ),

    policyOfClient: (only?: WorkspaceAgentId) =>
      Effect.map(CurrentActor, (actor): PeerPolicy => ({
        refuseNode: refuseClientNode,
        openTunnel: openTunnel(actor, only),
        mayBeReady: false
      })),

    policyOfAgent: (id: Uuid): PeerPolicy => ({
      refuseNode: refuseAgentNode(id),
      openTunnel: () => Effect.succeed("agents cannot open tunnels"),
      mayBeReady: true
    })
  }
})

/** Tunnels to agents through the private network, and the log of them. */
export class AgentTunnels extends Context.Tag("@atelier/core/AgentTunnels")<AgentTunnels, AgentTunnelsService>() {
  static readonly layer = standingOn(
    service(AgentTunnels, make),
    AgentLinks.layer,
    ConnectionLogs.layer,
    Coordinator.layer,
    StreamRights.layer
  )
}
