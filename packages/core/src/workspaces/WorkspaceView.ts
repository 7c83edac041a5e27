/** Workspaces and builds as readers see them: what is stored, with everything that is derived from it. workspaces.md §2. */
import { Schema } from "effect"
import { appStatusView, AppStatusView, failingAgents, resourceView, ResourceView, type ViewContext } from "../agents/AgentView.js"
import type { BuildResource } from "../agents/BuildResource.js"
import type { Options } from "../deployment/DeploymentOptions.js"
import { Timestamp } from "../platform/Timestamp.js"
import { Uuid } from "../platform/Uuid.js"
import { BuildTransition } from "../provisioning/BuildTransition.js"
import { jobView, JobView, matchedProvisionersView, MatchedProvisionersView } from "../provisioning/JobView.js"
import { jobStatus, type MatchedProvisioners, type QueuedJob } from "../provisioning/ProvisionerJob.js"
import { AutomaticUpdates, isPrebuild } from "./Workspace.js"
import { WorkspaceRole, workspaceRoleOf } from "./WorkspaceAcl.js"
import { BuildReason, buildStatus, WorkspaceStatus } from "./WorkspaceBuild.js"
import type { BuildDetails } from "./WorkspaceBuildRepository.js"
import type { WorkspaceDetails } from "./WorkspaceRepository.js"

export const BuildView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  workspace_id: Uuid,
  workspace_name: Schema.String,
  workspace_owner_id: Uuid,
  /** The username. */
  workspace_owner_name: Schema.String,
  workspace_owner_avatar_url: Schema.String,
  template_version_id: Uuid,
  /** Empty where the build has just been made. */
  template_version_name: Schema.String,
  build_number: Schema.Number,
  transition: BuildTransition,
  initiator_id: Uuid,
  /** The username. */
  initiator_name: Schema.String,
  job: JobView,
  reason: BuildReason,
  resources: Schema.Array(ResourceView),
  deadline: Schema.NullOr(Timestamp),
  max_deadline: Schema.NullOr(Timestamp),
  status: WorkspaceStatus,
  daily_cost: Schema.Number,
  /** Zeros once a daemon has taken the job. */
  matched_provisioners: MatchedProvisionersView,
  template_version_preset_id: Schema.NullOr(Uuid),
  has_ai_task: Schema.NullOr(Schema.Boolean),
  has_external_agent: Schema.NullOr(Schema.Boolean)
})
export interface BuildView extends Schema.Schema.Type<typeof BuildView> {}

export const SharedActorView = Schema.Struct({
  actor_type: Schema.Literal("user", "group"),
  id: Uuid,
  name: Schema.String,
  /** Absent when there is none. */
  avatar_url: Schema.optional(Schema.String),
  /** Exactly one. */
  roles: Schema.Array(WorkspaceRole)
})
export interface SharedActorView extends Schema.Schema.Type<typeof SharedActorView> {}

export const WorkspaceHealth = Schema.Struct({ healthy: Schema.Boolean, failing_agents: Schema.Array(Uuid) })

export const WorkspaceView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  owner_id: Uuid,
  /** The username. */
  owner_name: Schema.String,
  owner_avatar_url: Schema.String,
  organization_id: Uuid,
  organization_name: Schema.String,
  template_id: Uuid,
  template_name: Schema.String,
  template_display_name: Schema.String,
  template_icon: Schema.String,
  template_allow_user_cancel_workspace_jobs: Schema.Boolean,
  template_active_version_id: Uuid,
  template_require_active_version: Schema.Boolean,
  template_use_classic_parameter_flow: Schema.Boolean,
  latest_build: BuildView,
  latest_app_status: Schema.NullOr(AppStatusView),
  outdated: Schema.Boolean,
  name: Schema.String,
  /** Absent when the workspace is not started by schedule. */
  autostart_schedule: Schema.optional(Schema.String),
  /** Absent when it runs until it is stopped. */
  ttl_ms: Schema.optional(Schema.Number),
  last_used_at: Timestamp,
  deleting_at: Schema.NullOr(Timestamp),
  dormant_at: Schema.NullOr(Timestamp),
  health: WorkspaceHealth,
  automatic_updates: AutomaticUpdates,
  allow_renames: Schema.Boolean,
  /** Only ever to its owner. */
  favorite: Schema.Boolean,
  next_start_at: Schema.NullOr(Timestamp),
  is_prebuild: Schema.Boolean,
  task_id: Schema.NullOr(Uuid),
  /** Absent when it is shared with nobody. */
  shared_with: Schema.optional(Schema.Array(SharedActorView))
})
export interface WorkspaceView extends Schema.Schema.Type<typeof WorkspaceView> {}

/** What a build's view needs besides its row. */
export interface BuildParts {
  readonly job: QueuedJob
  readonly resources: ReadonlyArray<BuildResource>
  readonly matched_provisioners?: MatchedProvisioners | undefined
}

const noProvisioners: MatchedProvisioners = { count: 0, available: 0, most_recently_seen: null }

type BuildWorkspace = Pick<WorkspaceDetails, "name" | "owner_id" | "owner_username" | "owner_avatar_url">

/** The names in the hosts of a workspace's apps. */
const namesOf = ({ name, owner_username }: BuildWorkspace): NonNullable<ViewContext["names"]> => ({
  workspace_name: name,
  owner_name: owner_username
})

export const buildView = (workspace: BuildWorkspace, build: BuildDetails, parts: BuildParts, context: ViewContext): BuildView => ({
  id: build.id,
  created_at: build.created_at,
  updated_at: build.updated_at,
  workspace_id: build.workspace_id,
  workspace_name: workspace.name,
  workspace_owner_id: workspace.owner_id,
  workspace_owner_name: workspace.owner_username,
  workspace_owner_avatar_url: workspace.owner_avatar_url,
  template_version_id: build.template_version_id,
  template_version_name: build.template_version_name,
  build_number: build.build_number,
  transition: build.transition,
  initiator_id: build.initiator_id,
  initiator_name: build.initiator_username,
  job: jobView(parts.job),
  reason: build.reason,
  resources: parts.resources.map((resource) => resourceView(resource, { ...context, names: namesOf(workspace) })),
  deadline: build.deadline,
  max_deadline: build.max_deadline,
  status: buildStatus(jobStatus(parts.job), build.transition),
  daily_cost: build.daily_cost,
  matched_provisioners: matchedProvisionersView(parts.matched_provisioners ?? noProvisioners),
  template_version_preset_id: build.template_version_preset_id,
  has_ai_task: build.has_ai_task,
  has_external_agent: build.has_external_agent
})

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
          roles: [workspaceRoleOf((actor_type === "user" ? user_acl[id] : group_acl[id]) ?? [])]
        }))
      }
