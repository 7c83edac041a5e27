import { Context, Effect, Layer } from "effect"
import * as Access from "../access/Access.js"
import { type DeliveredSecret, SecretValues } from "../identity/secrets/SecretValues.js"
import { NotFound } from "../platform/Errors.js"
import type { AgentMetadata } from "./AgentMetadata.js"
import { AgentMetadataRepository } from "./AgentMetadataRepository.js"
import { type AgentWorkspace, reportingObject } from "./AgentWorkspace.js"
import { assembleAgents, type BuildAgent } from "./BuildResource.js"
import { BuildResourceRepository } from "./BuildResourceRepository.js"

/** What an agent needs to know to do its work. agents-and-apps.md §14. */
export interface AgentManifest {
  readonly workspace: AgentWorkspace
  readonly agent: BuildAgent
  readonly metadata: ReadonlyArray<AgentMetadata>
  /** Those of the workspace's owner. */
  readonly secrets: ReadonlyArray<DeliveredSecret>
}

const make = Effect.gen(function* () {
  const resources = yield* BuildResourceRepository
  const metadata = yield* AgentMetadataRepository
  const secrets = yield* SecretValues

  return {
    /** The manifest of the agent that acts. */
    of: Effect.fn("AgentManifests.of")(function* (workspace: AgentWorkspace) {
      yield* Access.authorize("read", reportingObject(workspace))
      const [agent] = assembleAgents(yield* resources.ofAgent(workspace.agent_id))
      if (agent === undefined) return yield* new NotFound({ resource: "workspace_agent" })
      const manifest: AgentManifest = {
        workspace,
        agent,
        metadata: yield* metadata.ofAgent(workspace.agent_id),
        secrets: yield* secrets.ofAgent(workspace.owner_id)
      }
      return manifest
    })
  }
})

/** What agents are told when they connect. */
export class AgentManifests extends Context.Tag("@atelier/core/AgentManifests")<AgentManifests, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(AgentManifests, make)
}
