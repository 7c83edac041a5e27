import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import { rightTo } from "../access/streams/StreamRights.js"
import { NotFound } from "../platform/Errors.js"
import { AgentRepository } from "./AgentRepository.js"
import { agentView, viewContext } from "./AgentView.js"
import { agentWorkspaceObject } from "./AgentWorkspace.js"
import { assembleAgents } from "./resources/BuildResource.js"
import { BuildResourceRepository } from "./resources/BuildResourceRepository.js"
import type { WorkspaceAgentId } from "./WorkspaceAgent.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"

/** The names an agent's app hosts are made of. */
const namesOf = (agent: { readonly workspace_name: string; readonly owner_name: string }) => ({
  workspace_name: agent.workspace_name,
  owner_name: agent.owner_name
})

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const resources = yield* BuildResourceRepository

  /**
   * The agent with this id. Fails with `NotFound` where it, its workspace or its owner is deleted, where it is not part of a workspace,
   * and where the actor may not read that. agents-and-apps.md §1.
   */
  const readable = Traced.fn("Agents.readable")(function* (id: WorkspaceAgentId) {
    const agent = Option.getOrUndefined(yield* repository.byId(id))
    return yield* Access.visible(agent, agentWorkspaceObject, new NotFound({ resource: "workspace_agent" }))
  })

  return {
    readable,

    /** The same agent, with the right to streams of it. */
    rightToRead: (id: WorkspaceAgentId) => rightTo(`workspace_agent:${id}`, readable(id)),

    /** The agent as readers of its workspace see it. Fails as `readable` does. §3. */
    get: Traced.fn("Agents.get")(function* (id: WorkspaceAgentId) {
      const agent = yield* readable(id)
      const [found] = assembleAgents(yield* resources.ofAgent(id))
      if (found === undefined) return yield* new NotFound({ resource: "workspace_agent" })
      return agentView(found, yield* viewContext(namesOf(agent)))
    })
  }
})

/** Agents by their ids, for readers of their workspaces. */
export class Agents extends Context.Tag("@atelier/core/Agents")<Agents, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(Agents, make)
}
