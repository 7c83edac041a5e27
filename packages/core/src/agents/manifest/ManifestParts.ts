/** What the manifest of an agent is made of. */
import type { AgentMetadata } from "../metadata/AgentMetadata.js"
import { appOrder, by, oldestFirst } from "../resources/order.js"
import type { WorkspaceAgent } from "../WorkspaceAgent.js"
import type { WorkspaceApp } from "../apps/WorkspaceApp.js"
import type { AgentScript } from "./AgentScript.js"
import type { TemplateDevcontainer } from "./Devcontainer.js"

/** An agent, with what it needs to know of itself. */
export type ManifestAgent = Pick<WorkspaceAgent, "id" | "parent_id" | "name" | "directory" | "environment_variables" | "motd_file">

/** An app, with what its agent needs to know. */
export type ManifestApp = Pick<
  WorkspaceApp,
  | "id"
  | "slug"
  | "display_name"
  | "icon"
  | "command"
  | "url"
  | "healthcheck_url"
  | "healthcheck_interval"
  | "healthcheck_threshold"
  | "health"
  | "subdomain"
  | "sharing_level"
  | "external"
  | "display_order"
  | "hidden"
>

/** A script without its runs. */
export type ManifestScript = Omit<AgentScript, "workspace_agent_id" | "exit_code" | "status">

/** What an agent collects, without what it has collected. */
export type ManifestMetadata = Pick<AgentMetadata, "key" | "display_name" | "script" | "interval" | "timeout" | "display_order">

/** The parts of an agent's manifest that are stored with the agent. */
export interface ManifestParts {
  readonly agent: ManifestAgent
  readonly apps: ReadonlyArray<ManifestApp>
  readonly scripts: ReadonlyArray<ManifestScript>
  readonly metadata: ReadonlyArray<ManifestMetadata>
  /** Those that the template gives the agent. */
  readonly devcontainers: ReadonlyArray<TemplateDevcontainer>
}

const metadataOrder = by<ManifestMetadata>(
  (metadata) => metadata.display_order,
  (metadata) => metadata.key
)
const devcontainerOrder = by<TemplateDevcontainer>((devcontainer) => devcontainer.id)

/** The parts, as a store answers them, in the order in which the agent gets them. */
export const inManifestOrder = ({ agent, apps, devcontainers, metadata, scripts }: ManifestParts): ManifestParts => ({
  agent,
  apps: apps.toSorted(appOrder),
  scripts: scripts.toSorted(oldestFirst),
  metadata: metadata.toSorted(metadataOrder),
  devcontainers: devcontainers.toSorted(devcontainerOrder)
})
