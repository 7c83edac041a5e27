/** The resources of a job with everything in them, as lists show them. agents-and-apps.md §3, workspaces.md §2. */
import type { AgentLogSource } from "../logs/AgentLog.js"
import type { AgentScript } from "../manifest/AgentScript.js"
import type { WorkspaceAgent } from "../WorkspaceAgent.js"
import type { AppStatus, WorkspaceApp } from "../apps/WorkspaceApp.js"
import type { WorkspaceResource } from "./WorkspaceResource.js"
import * as Remembered from "../../platform/collections/Remembered.js"
import { appOrder, by, type Compare, oldestFirst } from "./order.js"

/** An app with what was reported of it, newest first. */
export interface BuildApp extends WorkspaceApp {
  readonly statuses: ReadonlyArray<AppStatus>
}

/** An agent with all its parts, in the order in which they are shown. */
export interface BuildAgent extends WorkspaceAgent {
  readonly apps: ReadonlyArray<BuildApp>
  readonly scripts: ReadonlyArray<AgentScript>
  readonly log_sources: ReadonlyArray<AgentLogSource>
}

export interface BuildResource extends WorkspaceResource {
  readonly agents: ReadonlyArray<BuildAgent>
}

/** The parts as a store answers them, in any order. */
export interface ResourceParts extends AgentParts {
  readonly resources: ReadonlyArray<WorkspaceResource>
}

export interface AgentParts {
  readonly agents: ReadonlyArray<WorkspaceAgent>
  readonly apps: ReadonlyArray<WorkspaceApp>
  readonly statuses: ReadonlyArray<AppStatus>
  readonly scripts: ReadonlyArray<AgentScript>
  readonly log_sources: ReadonlyArray<AgentLogSource>
}

const agentOrder: Compare<WorkspaceAgent> = by(
  (agent) => agent.display_order,
  (agent) => agent.name
)
const resourceOrder: Compare<BuildResource> = by(
  (resource) => Math.min(...resource.agents.map((agent) => agent.display_order)),
  (resource) => resource.name
)
const newestFirst: Compare<AppStatus> = (left, right) =>
  by<AppStatus>(
    (status) => status.created_at,
    (status) => status.id
  )(right, left)
const grouped = <A>(rows: ReadonlyArray<A>, key: (row: A) => string, order: Compare<A>): ((id: string) => ReadonlyArray<A>) => {
  const groups = new Map<string, Array<A>>()
  for (const row of rows) {
    const group = groups.get(key(row))
    if (group === undefined) groups.set(key(row), [row])
    else group.push(row)
  }
  for (const group of groups.values()) group.sort(order)
  return (id) => groups.get(id) ?? []
}

/** Bytes of apps, agents and resources that are kept, so that what did not change is the same object in the next list. */
const kept = 2 ** 20
const apps = Remembered.make<BuildApp>(kept)
const agents = Remembered.make<BuildAgent>(2 * kept)
const resources = Remembered.make<BuildResource>(2 * kept)

// The parts come first: V8 keeps a description of its own, of a kilobyte and more, for each object that has properties behind a spread
const withStatuses = (app: WorkspaceApp, statuses: ReadonlyArray<AppStatus>): BuildApp =>
  apps.get(app.id, [app, statuses], () => ({ statuses, ...app }))

const withParts = (agent: WorkspaceAgent, parts: Pick<BuildAgent, "apps" | "scripts" | "log_sources">): BuildAgent =>
  agents.get(agent.id, [agent, parts.apps, parts.scripts, parts.log_sources], () => ({
    apps: parts.apps,
    scripts: parts.scripts,
    log_sources: parts.log_sources,
    ...agent
  }))

const withAgents = (resource: WorkspaceResource, agents: ReadonlyArray<BuildAgent>): BuildResource =>
  resources.get(resource.id, [resource, agents], () => ({ agents, ...resource }))

/** Agents with their parts, by display order, then name. */
export const assembleAgents = (parts: AgentParts): ReadonlyArray<BuildAgent> => {
  const statusesOf = grouped(parts.statuses, (status) => status.app_id, newestFirst)
  const appsOf = grouped(parts.apps, (app) => app.agent_id, appOrder)
  const scriptsOf = grouped(parts.scripts, (script) => script.workspace_agent_id, oldestFirst)
  const sourcesOf = grouped(parts.log_sources, (source) => source.workspace_agent_id, oldestFirst)
  return parts.agents.toSorted(agentOrder).map((agent) =>
    withParts(agent, {
      apps: appsOf(agent.id).map((app) => withStatuses(app, statusesOf(app.id))),
      scripts: scriptsOf(agent.id),
      log_sources: sourcesOf(agent.id)
    })
  )
}

/** Resources by job: by their agents' smallest display order, then name; those without agents last. */
export const assembleResources = (parts: ResourceParts): ReadonlyMap<string, ReadonlyArray<BuildResource>> => {
  const agentsOf = grouped(assembleAgents(parts), (agent) => agent.resource_id, agentOrder)
  const assembled = parts.resources.map((resource) => withAgents(resource, agentsOf(resource.id)))
  const ofJob = grouped(assembled, (resource) => resource.job_id, resourceOrder)
  return new Map(parts.resources.map(({ job_id }) => [job_id, ofJob(job_id)]))
}
