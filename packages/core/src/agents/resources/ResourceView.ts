/** Resources as readers see them, with the agents in them. agents-and-apps.md §3. */
import { Schema } from "effect"
import * as Remembered from "../../platform/collections/Remembered.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { ResourceMetadata } from "../../provisioning/engines/ProvisionedResource.js"
import { agentView, AgentView, type ViewContext } from "../AgentView.js"
import type { BuildResource } from "./BuildResource.js"

export const ResourceView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  job_id: Uuid,
  workspace_transition: BuildTransition,
  type: Schema.String,
  name: Schema.String,
  hide: Schema.Boolean,
  icon: Schema.String,
  agents: Schema.Array(AgentView),
  metadata: Schema.Array(ResourceMetadata),
  daily_cost: Numbers.Integer
})
export interface ResourceView extends Schema.Schema.Type<typeof ResourceView> {}

/** Views that are kept, as most resources of a list are as they were in the one before. */
const views = Remembered.make<ResourceView>(2 ** 21)

export const resourceView = (resource: BuildResource, context: ViewContext): ResourceView => {
  const agents = resource.agents.map((agent) => agentView(agent, context))
  return views.get(resource.id, [resource, agents], () => viewOf(resource, agents))
}

const viewOf = (resource: BuildResource, agents: ResourceView["agents"]): ResourceView => ({
  id: resource.id,
  created_at: resource.created_at,
  job_id: resource.job_id,
  workspace_transition: resource.transition,
  type: resource.type,
  name: resource.name,
  hide: resource.hide,
  icon: resource.icon,
  agents,
  metadata: resource.metadata,
  daily_cost: resource.daily_cost
})

/** Resources of a job that belongs to no workspace, by name. */
export const resourceViews = (resources: ReadonlyArray<BuildResource>, context: ViewContext): ReadonlyArray<ResourceView> =>
  resources
    .map((resource) => resourceView(resource, context))
    .toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))

/** A workspace's agents that are not well, sub agents left out. workspaces.md §2. */
export const failingAgents = (resources: ReadonlyArray<ResourceView>): ReadonlyArray<Uuid> =>
  resources.flatMap(({ agents }) => agents.filter(({ health, parent_id }) => !health.healthy && parent_id === null).map(({ id }) => id))
