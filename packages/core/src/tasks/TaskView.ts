/** Tasks as readers see them. workspaces.md §9.3, workspaces.md §9.4. */
import { type Duration, Schema } from "effect"
import { AgentLifecycle } from "../agents/AgentLifecycle.js"
import { AgentHealth, healthOf, statusAt } from "../agents/AgentStatus.js"
import * as Numbers from "../platform/Numbers.js"
import { present } from "../platform/lists/Present.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { jobStatus } from "../provisioning/jobs/ProvisionerJob.js"
import { buildStatus, WorkspaceStatus } from "../workspaces/builds/WorkspaceBuild.js"
import { type TaskParts, TaskStatus, taskStatus, waitingFor } from "./Task.js"
import type { TaskDetails } from "./TaskRepository.js"

export const TaskState = Schema.Literal("working", "idle", "complete", "failed")

export const TaskStateEntry = Schema.Struct({
  timestamp: Timestamp,
  state: TaskState,
  message: Schema.String,
  uri: Schema.String
})
export interface TaskStateEntry extends Schema.Schema.Type<typeof TaskStateEntry> {}

export const TaskView = Schema.Struct({
  id: Uuid,
  organization_id: Uuid,
  owner_id: Uuid,
  /** The username. */
  owner_name: Schema.String,
  owner_avatar_url: Schema.optional(Schema.String),
  name: Schema.String,
  display_name: Schema.String,
  template_id: Uuid,
  /** The version that the task was created with. */
  template_version_id: Uuid,
  template_name: Schema.String,
  template_display_name: Schema.String,
  template_icon: Schema.String,
  workspace_id: Schema.NullOr(Uuid),
  workspace_name: Schema.String,
  workspace_status: Schema.optional(WorkspaceStatus),
  workspace_build_number: Schema.optional(Numbers.Count),
  /** Null where the latest build has no agent for the task. */
  workspace_agent_id: Schema.NullOr(Uuid),
  workspace_agent_lifecycle: Schema.NullOr(AgentLifecycle),
  workspace_agent_health: Schema.NullOr(AgentHealth),
  workspace_app_id: Schema.NullOr(Uuid),
  initial_prompt: Schema.String,
  status: TaskStatus,
  current_state: Schema.NullOr(TaskStateEntry),
  created_at: Timestamp,
  updated_at: Timestamp
})
export interface TaskView extends Schema.Schema.Type<typeof TaskView> {}

/** What the status of a stored task follows from. */
export const partsOf = ({ agent, app, build }: Pick<TaskDetails, "agent" | "app" | "build">): TaskParts => ({
  build: { job: jobStatus(build.job), transition: build.transition },
  lifecycle: agent?.lifecycle_state ?? null,
  health: app?.health ?? null
})

/** What the task does now: what its workspace reported last, but nothing from before the latest start. workspaces.md §9.4. */
export const currentState = (task: Pick<TaskDetails, "agent" | "app" | "build" | "latest_app_status">): TaskStateEntry | null => {
  const { build, latest_app_status: reported } = task
  if (reported !== null && (build.transition !== "start" || reported.created_at > build.created_at)) {
    const { created_at: timestamp, message, state, uri } = reported
    return { timestamp, state: state === "failure" ? "failed" : state, message, uri }
  }
  const parts = partsOf(task)
  return taskStatus(parts) === "initializing"
    ? { timestamp: build.created_at, state: "working", message: waitingFor(parts), uri: "" }
    : null
}

/** The view at an instant; an agent without a sign of life for `inactive` is disconnected. */
export const taskView = (task: TaskDetails, context: { readonly now: Timestamp; readonly inactive: Duration.Duration }): TaskView => {
  const { agent, app, build, template, workspace } = task
  return {
    id: task.id,
    organization_id: task.organization_id,
    owner_id: task.owner_id,
    owner_name: task.owner_username,
    ...present("owner_avatar_url", task.owner_avatar_url),
    name: task.name,
    display_name: task.display_name,
    template_id: template.id,
    template_version_id: task.template_version_id,
    template_name: template.name,
    template_display_name: template.display_name,
    template_icon: template.icon,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    workspace_status: buildStatus(jobStatus(build.job), build.transition),
    workspace_build_number: build.build_number,
    workspace_agent_id: agent?.id ?? null,
    workspace_agent_lifecycle: agent?.lifecycle_state ?? null,
    workspace_agent_health: agent === null ? null : healthOf(statusAt(agent, context.now, context.inactive).status, agent.lifecycle_state),
    workspace_app_id: app?.id ?? null,
    initial_prompt: task.prompt,
    status: taskStatus(partsOf(task)),
    current_state: currentState(task),
    created_at: task.created_at,
    updated_at: workspace.updated_at
  }
}
