import * as AccessObjects from "../access/AccessObjects.js"
import { prebuildsUserId } from "../access/decisions/Decision.js"
import type { AccessObject, Acl } from "../access/Resource.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { BuildTransition } from "../provisioning/jobs/BuildTransition.js"
import type { WorkspaceAgentId } from "./WorkspaceAgent.js"

/** An agent that is not deleted, of a workspace that is not deleted: what every use case about one agent starts from. */
export interface AgentWorkspace {
  readonly agent_id: WorkspaceAgentId
  readonly agent_name: string
  readonly agent_created_at: Timestamp
  /** Set for a sub agent. */
  readonly agent_parent_id: WorkspaceAgentId | null
  readonly workspace_id: Uuid
  readonly workspace_name: string
  readonly dormant_at: Timestamp | null
  readonly user_acl: Acl
  readonly group_acl: Acl
  readonly owner_id: Uuid
  readonly owner_name: string
  readonly organization_id: Uuid
  readonly organization_name: string
  readonly template_id: Uuid
  readonly template_name: string
  /** The build that made the agent. */
  readonly build_id: Uuid
  readonly build_created_at: Timestamp
  readonly build_job_id: Uuid
  readonly build_transition: BuildTransition
  readonly template_version_id: Uuid
}

/** The object of a reader's permission check: the workspace. */
export const agentWorkspaceObject = (agent: AgentWorkspace): AccessObject => AccessObjects.workspace({ ...agent, id: agent.workspace_id })

/**
 * The object of the agent's own permission checks: the workspace, dormant or not. A dormant workspace's agent continues to report until it
 * is stopped. agents-and-apps.md §1.
 */
export const reportingObject = (agent: AgentWorkspace): AccessObject => agentWorkspaceObject({ ...agent, dormant_at: null })

/** Whether the workspace is an unclaimed prebuild, which has no user yet. */
export const isPrebuilt = (agent: Pick<AgentWorkspace, "owner_id">): boolean => agent.owner_id === prebuildsUserId
