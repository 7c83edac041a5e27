/** Workspaces and builds as readers see them: what is stored, with everything that is derived from it. workspaces.md §2. */
import { type AppStatusView, appStatusView, failingAgents, resourceView, type ResourceView, type ViewContext } from "../agents/AgentView.js"
import type { BuildResource } from "../agents/BuildResource.js"
import type { Options } from "../deployment/DeploymentOptions.js"
import type { Uuid } from "../platform/Uuid.js"
import { jobStatus, type MatchedProvisioners, type QueuedJob } from "../provisioning/ProvisionerJob.js"
import { isPrebuild, type Workspace } from "./Workspace.js"
import { roleOf, type WorkspaceRole } from "./WorkspaceAcl.js"
import { buildStatus, type WorkspaceBuild, type WorkspaceStatus } from "./WorkspaceBuild.js"
import type { BuildDetails } from "./WorkspaceBuildRepository.js"
import type { WorkspaceDetails } from "./WorkspaceRepository.js"

export interface BuildView extends Omit<WorkspaceBuild, "initiator_ip"> {
  readonly workspace_name: string
  readonly workspace_owner_id: Uuid
  /** The username. */
  readonly workspace_owner_name: string
  readonly workspace_owner_avatar_url: string
  /** Empty where the build has just been made. */
  readonly template_version_name: string
  /** The username. */
  readonly initiator_name: string
  readonly job: QueuedJob
  readonly resources: ReadonlyArray<ResourceView>
  readonly status: WorkspaceStatus
  /** Zeros once a daemon has taken the job. */
  readonly matched_provisioners: MatchedProvisioners
}

export interface SharedActorView {
  readonly actor_type: "user" | "group"
  readonly id: Uuid
  readonly name: string
  readonly avatar_url?: string
  /** Exactly one. */
  readonly roles: ReadonlyArray<WorkspaceRole>
}

export interface WorkspaceView extends Omit<Workspace, "deleted" | "autostart_schedule" | "ttl_ms" | "user_acl" | "group_acl"> {
  /** The username. */
  readonly owner_name: string
  readonly owner_avatar_url: string
  readonly organization_name: string
  readonly template_name: string
  readonly template_display_name: string
  readonly template_icon: string
  readonly template_allow_user_cancel_workspace_jobs: boolean
  readonly template_active_version_id: Uuid
  readonly template_require_active_version: boolean
  readonly template_use_classic_parameter_flow: boolean
  readonly latest_build: BuildView
  readonly latest_app_status: AppStatusView | null
  readonly outdated: boolean
  /** Absent when the workspace is not started by schedule. */
  readonly autostart_schedule?: string
  /** Absent when it runs until it is stopped. */
  readonly ttl_ms?: number
  readonly health: { readonly healthy: boolean; readonly failing_agents: ReadonlyArray<Uuid> }
  readonly allow_renames: boolean
  readonly is_prebuild: boolean
  /** Absent when it is shared with nobody. */
  readonly shared_with?: ReadonlyArray<SharedActorView>
}

/** What a build's view needs besides its row. */
export interface BuildParts {
  readonly job: QueuedJob
  readonly resources: ReadonlyArray<BuildResource>
  readonly matched_provisioners?: MatchedProvisioners | undefined
}

const noProvisioners: MatchedProvisioners = { count: 0, available: 0, most_recently_seen: null }

type BuildWorkspace = Pick<WorkspaceDetails, "name" | "owner_id" | "owner_username" | "owner_avatar_url">

/** The names in the hosts of a workspace's apps. */
export const namesOf = ({ name, owner_username }: BuildWorkspace): NonNullable<ViewContext["names"]> => ({
  workspace_name: name,
  owner_name: owner_username
})

export const buildView = (workspace: BuildWorkspace, build: BuildDetails, parts: BuildParts, context: ViewContext): BuildView => {
  const { initiator_ip: _, initiator_username, ...shown } = build
  return {
    ...shown,
    workspace_name: workspace.name,
    workspace_owner_id: workspace.owner_id,
    workspace_owner_name: workspace.owner_username,
    workspace_owner_avatar_url: workspace.owner_avatar_url,
    initiator_name: initiator_username,
    job: parts.job,
    resources: parts.resources.map((resource) => resourceView(resource, { ...context, names: namesOf(workspace) })),
    status: buildStatus(jobStatus(parts.job), build.transition),
    matched_provisioners: parts.matched_provisioners ?? noProvisioners
  }
}

/** What a workspace's view depends on besides the rows. */
export interface WorkspaceContext {
  readonly agents: ViewContext
  readonly options: Pick<Options, "allow_workspace_renames">
  readonly requester: Uuid
}

/** A workspace whose template is the one in force. */
export const workspaceView = (workspace: WorkspaceDetails, parts: BuildParts, context: WorkspaceContext): WorkspaceView => {
  const { template } = workspace
  const latest_build = buildView(workspace, workspace.latest_build, parts, context.agents)
  const failing_agents = failingAgents(latest_build.resources)
  const ttl = template.allow_user_autostop ? workspace.ttl_ms : template.default_ttl_ms
  return {
    id: workspace.id,
    created_at: workspace.created_at,
    updated_at: workspace.updated_at,
    owner_id: workspace.owner_id,
    owner_name: workspace.owner_username,
    owner_avatar_url: workspace.owner_avatar_url,
    organization_id: workspace.organization_id,
    organization_name: workspace.organization_name,
    template_id: workspace.template_id,
    template_name: template.name,
    template_display_name: template.display_name,
    template_icon: template.icon,
    template_allow_user_cancel_workspace_jobs: template.allow_user_cancel_workspace_jobs,
    template_active_version_id: template.active_version_id,
    template_require_active_version: template.require_active_version,
    template_use_classic_parameter_flow: template.use_classic_parameter_flow,
    latest_build,
    latest_app_status: workspace.latest_app_status === null ? null : appStatusView(workspace.latest_app_status),
    outdated: workspace.latest_build.template_version_id !== template.active_version_id,
    name: workspace.name,
    ...(workspace.autostart_schedule === null ? {} : { autostart_schedule: workspace.autostart_schedule }),
    ...(ttl === null ? {} : { ttl_ms: ttl }),
    last_used_at: workspace.last_used_at,
    deleting_at: workspace.deleting_at,
    dormant_at: workspace.dormant_at,
    health: { healthy: failing_agents.length === 0, failing_agents },
    automatic_updates: workspace.automatic_updates,
    allow_renames: context.options.allow_workspace_renames,
    favorite: workspace.favorite && workspace.owner_id === context.requester,
    next_start_at: workspace.next_start_at,
    is_prebuild: isPrebuild(workspace),
    task_id: workspace.task_id,
    ...sharedWith(workspace)
  }
}

const sharedWith = ({ group_acl, shared_with, user_acl }: WorkspaceDetails): Pick<WorkspaceView, "shared_with"> =>
  shared_with.length === 0
    ? {}
    : {
        shared_with: shared_with.map(({ actor_type, avatar_url, id, name }) => ({
          actor_type,
          id,
          name,
          ...(avatar_url === "" ? {} : { avatar_url }),
          roles: [roleOf((actor_type === "user" ? user_acl[id] : group_acl[id]) ?? [])]
        }))
      }
