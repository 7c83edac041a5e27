/** What clients of the private network know of a user's workspaces. agents-and-apps.md §15. */
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"
import type { WorkspaceStatus } from "../builds/WorkspaceBuild.js"

/** A workspace by its name, with the agents of its latest build. */
export interface WorkspaceOutline {
  readonly id: WorkspaceId
  readonly name: string
  readonly status: WorkspaceStatus
  readonly agents: ReadonlyArray<AgentOutline>
}

export interface AgentOutline {
  readonly id: Uuid
  readonly name: string
}

/** An outline with what decides who may read it. */
export interface StoredOutline
  extends WorkspaceOutline, Pick<Workspace, "owner_id" | "organization_id" | "dormant_at" | "user_acl" | "group_acl"> {}

interface NamedWorkspace extends Omit<WorkspaceOutline, "agents"> {}

interface OwnedAgent extends AgentOutline {
  readonly workspace_id: WorkspaceId
}

/** How one list of workspaces becomes another. */
export interface WorkspaceChanges {
  readonly upserted_workspaces: ReadonlyArray<NamedWorkspace>
  readonly upserted_agents: ReadonlyArray<OwnedAgent>
  readonly deleted_workspaces: ReadonlyArray<NamedWorkspace>
  readonly deleted_agents: ReadonlyArray<OwnedAgent>
}

const byId = <A extends { readonly id: Uuid }>(items: ReadonlyArray<A>): ReadonlyMap<Uuid, A> =>
  new Map(items.map((item) => [item.id, item]))

const named = ({ id, name, status }: WorkspaceOutline): NamedWorkspace => ({ id, name, status })

const agentsOf = (workspaces: ReadonlyArray<WorkspaceOutline>): ReadonlyArray<OwnedAgent> =>
  workspaces.flatMap(({ agents, id: workspace_id }) => agents.map(({ id, name }) => ({ id, name, workspace_id })))

/** The changes from one list of workspaces to the next. An agent never changes its name. */
export const changesBetween = (before: ReadonlyArray<WorkspaceOutline>, after: ReadonlyArray<WorkspaceOutline>): WorkspaceChanges => {
  const [known, current] = [byId(before), byId(after)]
  const [knownAgents, currentAgents] = [byId(agentsOf(before)), byId(agentsOf(after))]
  const isChanged = ({ id, name, status }: WorkspaceOutline): boolean => known.get(id)?.name !== name || known.get(id)?.status !== status
  return {
    upserted_workspaces: after.filter(isChanged).map(named),
    upserted_agents: [...currentAgents.values()].filter(({ id }) => !knownAgents.has(id)),
    deleted_workspaces: before.filter(({ id }) => !current.has(id)).map(named),
    deleted_agents: [...knownAgents.values()].filter(({ id }) => !currentAgents.has(id))
  }
}

/** Whether there is nothing to tell. */
export const isUnchanged = (changes: WorkspaceChanges): boolean =>
  Object.values(changes).every((items: ReadonlyArray<unknown>) => items.length === 0)
