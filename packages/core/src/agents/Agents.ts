import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import { rightTo, type StreamRight } from "../access/streams/StreamRights.js"
import { NotFound } from "../platform/Errors.js"
import { AgentRepository } from "./AgentRepository.js"
import { agentView, viewContext, type AgentView } from "./AgentView.js"
import { agentWorkspaceObject, type AgentWorkspace } from "./AgentWorkspace.js"
import { assembleAgents } from "./resources/BuildResource.js"
import { BuildResourceRepository } from "./resources/BuildResourceRepository.js"
import type { WorkspaceAgentId } from "./WorkspaceAgent.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import type { CurrentActor } from "../access/actors/Actor.js"

/** The names an agent's app hosts are made of. */
const namesOf = (agent: { readonly workspace_name: string; readonly owner_name: string }) => ({
  workspace_name: agent.workspace_name,
  owner_name: agent.owner_name
})

/** The methods of {@link Agents}. */
export interface AgentsService {
  /**
   * The agent with this id. Fails with `NotFound` where it, its workspace or its owner is deleted, where it is not part of a workspace,
   * and where the actor may not read that. agents-and-apps.md §1.
   */
  readonly readable: (id: WorkspaceAgentId) => Effect.Effect<AgentWorkspace, NotFound, CurrentActor>

  /** The same agent, with the right to streams of it. */
  readonly rightToRead: (id: WorkspaceAgentId) => Effect.Effect<readonly [StreamRight, AgentWorkspace], NotFound, CurrentActor>

  /** The agent as readers of its workspace see it. Fails as `readable` does. §3. */
  readonly get: (id: WorkspaceAgentId) => Effect.Effect<AgentView, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const resources = yield* BuildResourceRepository

  const readable = Traced.fn("Agents.readable")(function* (id: WorkspaceAgentId) {
    const agent = Option.getOrUndefined(yield* repository.byId(id))
    return yield* Access.visible(agent, agentWorkspaceObject, new NotFound({ resource: "workspace_agent" }))
  })

  return {
    readable,

    rightToRead: (id: WorkspaceAgentId) => rightTo(`workspace_agent:${id}`, () => readable(id)),

    get: Traced.fn("Agents.get")(function* (id: WorkspaceAgentId) {
      const agent = yield* readable(id)
      const [found] = assembleAgents(yield* resources.ofAgent(id))
      if (found === undefined) return yield* new NotFound({ resource: "workspace_agent" })
      return agentView(found, yield* viewContext(namesOf(agent)))
    })
  }
})

/** Agents by their ids, for readers of their workspaces. */
export class Agents extends Context.Tag("@atelier/core/Agents")<Agents, AgentsService>() {
  static readonly layer = service(Agents, make)
}
