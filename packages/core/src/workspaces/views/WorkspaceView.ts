/** Workspaces as readers see them: the stored fields, and those derived from them. workspaces.md §2. */
import { Schema } from "effect"
import type { ViewContext } from "../../agents/AgentView.js"
import { appStatusView, AppStatusView } from "../../agents/apps/AppView.js"
import { failingAgents } from "../../agents/resources/ResourceView.js"
import type { Options } from "../../deployment/options/DeploymentOptions.js"
import { present } from "../../platform/lists/Present.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { type BuildParts, buildView, BuildView } from "../builds/BuildView.js"
import { AutomaticUpdates, isPrebuild } from "../Workspace.js"
import { WorkspaceRole, workspaceRoleOf } from "../sharing/WorkspaceAcl.js"
import type { WorkspaceDetails } from "../WorkspaceRepository.js"

export const SharedActorView = Schema.Struct({
  actor_type: Schema.Literal("user", "group"),
  id: Uuid,
  name: Schema.String,
  /** Absent if the user has no picture. */
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
  ttl_ms: Schema.optional(Numbers.Count),
  last_used_at: Timestamp,
  deleting_at: Schema.NullOr(Timestamp),
  dormant_at: Schema.NullOr(Timestamp),
  health: WorkspaceHealth,
  automatic_updates: AutomaticUpdates,
  allow_renames: Schema.Boolean,
  /** Only ever to its owner. */
  favorite: Schema.Boolean,
  next_start_at: Schema.NullOr(Timestamp),
  /** When it is deleted. Absent if it lives until it is deleted. */
  expires_at: Schema.optional(Timestamp),
  is_prebuild: Schema.Boolean,
  task_id: Schema.NullOr(Uuid),
  /** Absent if the workspace is not shared. */
  shared_with: Schema.optional(Schema.Array(SharedActorView))
})
export interface WorkspaceView extends Schema.Schema.Type<typeof WorkspaceView> {}

/** The inputs of a workspace's view beyond the rows. */
export interface WorkspaceContext {
  readonly agents: ViewContext
  readonly options: Pick<Options, "allowWorkspaceRenames">
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
    ...present("autostart_schedule", workspace.autostart_schedule),
    ...present("ttl_ms", ttl),
    last_used_at: workspace.last_used_at,
    deleting_at: workspace.deleting_at,
    dormant_at: workspace.dormant_at,
    health: { healthy: failing_agents.length === 0, failing_agents },
    automatic_updates: workspace.automatic_updates,
    allow_renames: context.options.allowWorkspaceRenames,
    favorite: workspace.favorite && workspace.owner_id === context.requester,
    next_start_at: workspace.next_start_at,
    ...present("expires_at", workspace.expires_at),
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
          ...present("avatar_url", avatar_url),
          roles: [workspaceRoleOf((actor_type === "user" ? user_acl[id] : group_acl[id]) ?? [])]
        }))
      }
