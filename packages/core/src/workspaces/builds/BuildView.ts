/** Builds as readers see them. workspaces.md §2, §4.3. */
import { Schema } from "effect"
import type { ViewContext } from "../../agents/AgentView.js"
import type { BuildResource } from "../../agents/resources/BuildResource.js"
import { resourceView, ResourceView } from "../../agents/resources/ResourceView.js"
import * as Numbers from "../../platform/Numbers.js"
import { present } from "../../platform/lists/Present.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { jobView, JobView, MatchedProvisionersView } from "../../provisioning/jobs/JobView.js"
import { jobStatus, type MatchedProvisioners, type QueuedJob } from "../../provisioning/jobs/ProvisionerJob.js"
import { BuildReason } from "../../provisioning/jobs/BuildReason.js"
import { buildStatus, WorkspaceStatus } from "./WorkspaceBuild.js"
import type { BuildDetails } from "./WorkspaceBuildRepository.js"
import type { WorkspaceDetails } from "../WorkspaceRepository.js"

export const BuildView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  workspace_id: Uuid,
  workspace_name: Schema.String,
  workspace_owner_id: Uuid,
  /** The username. */
  workspace_owner_name: Schema.String,
  /** Absent if the owner has no picture. */
  workspace_owner_avatar_url: Schema.optional(Schema.String),
  template_version_id: Uuid,
  /** Empty where the build has just been made. */
  template_version_name: Schema.String,
  build_number: Numbers.Count,
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
  daily_cost: Numbers.Integer,
  /** Zeros once a daemon has taken the job. */
  matched_provisioners: MatchedProvisionersView,
  template_version_preset_id: Schema.NullOr(Uuid),
  /** Absent until the job has succeeded, like the next. */
  has_ai_task: Schema.optional(Schema.Boolean),
  has_external_agent: Schema.optional(Schema.Boolean)
})
export interface BuildView extends Schema.Schema.Type<typeof BuildView> {}

/** The inputs of a build's view beyond its row. */
export interface BuildParts {
  readonly job: QueuedJob
  readonly resources: ReadonlyArray<BuildResource>
  readonly matched_provisioners?: MatchedProvisioners | undefined
}

const noProvisioners: MatchedProvisioners = { count: 0, available: 0, most_recently_seen: null }

type BuildWorkspace = Pick<WorkspaceDetails, "name" | "owner_id" | "owner_username" | "owner_avatar_url">

/** The names in the hosts of a workspace's apps. */
export const workspaceNames = ({ name, owner_username }: BuildWorkspace): NonNullable<ViewContext["names"]> => ({
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
  ...present("workspace_owner_avatar_url", workspace.owner_avatar_url),
  template_version_id: build.template_version_id,
  template_version_name: build.template_version_name,
  build_number: build.build_number,
  transition: build.transition,
  initiator_id: build.initiator_id,
  initiator_name: build.initiator_username,
  job: jobView(parts.job),
  reason: build.reason,
  resources: parts.resources.map((resource) => resourceView(resource, { ...context, names: workspaceNames(workspace) })),
  deadline: build.deadline,
  max_deadline: build.max_deadline,
  status: buildStatus(jobStatus(parts.job), build.transition),
  daily_cost: build.daily_cost,
  matched_provisioners: parts.matched_provisioners ?? noProvisioners,
  template_version_preset_id: build.template_version_preset_id,
  ...present("has_ai_task", build.has_ai_task),
  ...present("has_external_agent", build.has_external_agent)
})
