import { Context, Effect, Layer, Schema } from "effect"
import * as Access from "../access/Access.js"
import { ExternalAuthClients } from "../deployment/externalAuth/ExternalAuthClient.js"
import { isGit } from "../deployment/options/externalAuth.js"
import { type DeliveredSecret, SecretValues } from "../identity/secrets/SecretValues.js"
import { Conflict, NotFound } from "../platform/Errors.js"
import { Uuid } from "../platform/Uuid.js"
import type { AgentMetadata } from "./AgentMetadata.js"
import { AgentMetadataRepository } from "./AgentMetadataRepository.js"
import { type AgentWorkspace, reportingObject } from "./AgentWorkspace.js"
import { assembleAgents, type BuildAgent } from "./BuildResource.js"
import { BuildResourceRepository } from "./BuildResourceRepository.js"
import { standingOn } from "../platform/Standing.js"

/** The settings that an agent works with. agents-and-apps.md §14. */
export interface AgentManifest {
  readonly workspace: AgentWorkspace
  readonly agent: BuildAgent
  readonly metadata: ReadonlyArray<AgentMetadata>
  /** Those of the workspace's owner. */
  readonly secrets: ReadonlyArray<DeliveredSecret>
  /** The number of configured providers that give tokens for git. */
  readonly git_auth_configs: number
}

/** A prebuilt workspace's agent learns that the workspace has an owner. */
export const AgentReinitialization = Schema.Struct({
  workspace_id: Uuid,
  reason: Schema.Literal("prebuild_claimed"),
  owner_id: Uuid
})
export interface AgentReinitialization extends Schema.Schema.Type<typeof AgentReinitialization> {}

const make = Effect.gen(function* () {
  const resources = yield* BuildResourceRepository
  const metadata = yield* AgentMetadataRepository
  const secrets = yield* SecretValues
  const git_auth_configs = (yield* ExternalAuthClients).filter(({ provider }) => isGit(provider)).length

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
        secrets: yield* secrets.ofAgent(workspace.owner_id),
        git_auth_configs
      }
      return manifest
    }),

    /**
     * Why the agent is to start anew: its prebuilt workspace has a new owner. Fails with `Conflict` for a workspace that is no
     * claimed one, which tells the agent to ask no more. No workspace is prebuilt yet. agents-and-apps.md §13.
     */
    reinitialization: (workspace: AgentWorkspace): Effect.Effect<AgentReinitialization, Conflict> =>
      Effect.fail(
        new Conflict({
          message: "The workspace is not a claimed prebuilt workspace.",
          detail: `The workspace is ${workspace.workspace_name}.`
        })
      )
  }
})

/** The manifests that agents read when they connect. */
export class AgentManifests extends Context.Tag("@atelier/core/AgentManifests")<AgentManifests, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(AgentManifests, make), SecretValues.layer)
}
