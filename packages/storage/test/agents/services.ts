/** The services of this area on a store. */
import {
  AgentConnections,
  AgentLogs,
  AgentManifests,
  AgentReports,
  Agents,
  AgentSessions,
  BuildResources,
  MetadataReports,
  StatReports
} from "@atelier/core/agents"
import { SecretValues } from "@atelier/core/identity"
import { BuildStates, sealedStates, workspaceActivity } from "@atelier/core/workspaces"
import { NodeEncryption } from "@atelier/http/node"
import { Layer } from "effect"
import type { sqlite } from "../../../../test/databases.js"
import { runtime } from "../../../../test/services.js"

/** Everything that an agent's reports and their readers need. */
export const agentServices = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.mergeAll(AgentConnections.layer, AgentLogs.layer, AgentManifests.layer, AgentReports.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(Agents.layer, AgentSessions.layer, BuildResources.layer, StatReports.layer, workspaceActivity)),
    Layer.provideMerge(MetadataReports.layer),
    Layer.provideMerge(Agents.layer),
    Layer.provideMerge(Layer.provide(SecretValues.layer, Layer.provide(sealedStates, BuildStates.layer))),
    Layer.provideMerge(NodeEncryption.layer()),
    Layer.provideMerge(database),
    Layer.provideMerge(runtime)
  )
