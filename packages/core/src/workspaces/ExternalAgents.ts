import { Context, Effect, Layer, Option } from "effect"
import { AgentTokens } from "../agents/AgentTokens.js"
import { requireFeature } from "../deployment/Entitlements.js"
import { NotFound } from "../platform/Errors.js"
import { standingOn } from "../platform/Standing.js"
import { visibleWorkspace } from "./VisibleWorkspace.js"
import type { WorkspaceId } from "./Workspace.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"

const missing = new NotFound({ resource: "workspace_agent" })

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const tokens = yield* AgentTokens

  return {
    /**
     * Returns what an external agent of a workspace's latest build is started with. Fails with `Forbidden` if external agents are not
     * licensed, and with `NotFound` if the actor may not read the workspace, or its latest build has no external agent of exactly this name.
     * workspaces.md §3.8.
     */
    credentials: Effect.fn("ExternalAgents.credentials")(function* (id: WorkspaceId, name: string) {
      yield* requireFeature("workspace_external_agent")
      const { latest_build } = yield* Effect.flatMap(workspaces.details(id), visibleWorkspace)
      if (latest_build.has_external_agent !== true) return yield* missing
      const agent = yield* tokens.external(latest_build.job_id, name)
      return Option.isSome(agent) ? agent.value : yield* missing
    })
  }
})

/** Agents on machines that the templates of their workspaces do not make. */
export class ExternalAgents extends Context.Tag("@atelier/core/ExternalAgents")<ExternalAgents, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(ExternalAgents, make), AgentTokens.layer)
}
