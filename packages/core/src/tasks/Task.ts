import { Schema } from "effect"
import type { AgentLifecycle } from "../agents/AgentLifecycle.js"
import type { AppHealth } from "../agents/apps/WorkspaceApp.js"
import { NotFound } from "../platform/Errors.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import type { BuildTransition } from "../provisioning/jobs/BuildTransition.js"
import type { JobStatus } from "../provisioning/jobs/ProvisionerJob.js"

export const TaskId = Uuid
export type TaskId = Uuid

/** A prompt that a program in a workspace of its own works on, as it is stored. workspaces.md §9. */
export const Task = Schema.Struct({
  id: TaskId,
  created_at: Timestamp,
  organization_id: Uuid,
  owner_id: Uuid,
  /** Unique per owner without regard to case among those not deleted. */
  name: Schema.String,
  display_name: Schema.String,
  workspace_id: Uuid,
  /** The version that it was created with. */
  template_version_id: Uuid,
  prompt: Schema.String,
  deleted_at: Schema.NullOr(Timestamp)
})
export interface Task extends Schema.Schema.Type<typeof Task> {}

export const TaskStatus = Schema.Literal("pending", "initializing", "active", "paused", "unknown", "error")
export type TaskStatus = typeof TaskStatus.Type

/** What the status of a task follows from. */
export interface TaskParts {
  /** The latest build of the task's workspace; null before the first. */
  readonly build: { readonly job: JobStatus; readonly transition: BuildTransition } | null
  /** The lifecycle of the agent that has the task's app; null if the build has no such agent. */
  readonly lifecycle: AgentLifecycle | null
  /** The health of the task's app; null if the build has no such app. */
  readonly health: AppHealth | null
}

/** A status, or the next part to look at. */
type Verdict = TaskStatus | "next"

/** workspaces.md §9.4, level "build". */
const byBuild = {
  pending: { start: "pending", stop: "unknown", delete: "unknown" },
  running: { start: "next", stop: "unknown", delete: "unknown" },
  succeeded: { start: "next", stop: "paused", delete: "paused" },
  canceling: { start: "error", stop: "error", delete: "error" },
  canceled: { start: "error", stop: "error", delete: "error" },
  failed: { start: "error", stop: "error", delete: "error" },
  unknown: { start: "error", stop: "error", delete: "error" }
} as const satisfies Record<JobStatus, Record<BuildTransition, Verdict>>

/** workspaces.md §9.4, level "agent". */
const byAgent = {
  created: "initializing",
  starting: "initializing",
  ready: "next",
  start_timeout: "next",
  start_error: "next",
  shutting_down: "unknown",
  shutdown_timeout: "unknown",
  shutdown_error: "unknown",
  off: "unknown"
} as const satisfies Record<AgentLifecycle, Verdict>

/** workspaces.md §9.4, level "app". */
const byApp = {
  initializing: "initializing",
  unhealthy: "error",
  healthy: "active",
  disabled: "active"
} as const satisfies Record<AppHealth, TaskStatus>

/** The status of a task: the first of its parts that decides. workspaces.md §9.4. */
export const taskStatus = ({ build, health, lifecycle }: TaskParts): TaskStatus => {
  if (build === null) return "pending"
  const ofBuild: Verdict = byBuild[build.job][build.transition]
  if (ofBuild !== "next") return ofBuild
  if (lifecycle === null) return "initializing"
  const ofAgent: Verdict = byAgent[lifecycle]
  if (ofAgent !== "next") return ofAgent
  return health === null ? "unknown" : byApp[health]
}

/** What a task that has reported nothing yet waits for. workspaces.md §9.4. */
export const waitingFor = ({ build, health, lifecycle }: TaskParts): string => {
  if (build === null || build.job === "pending") return "Workspace is pending"
  if (build.job === "running") return "Workspace is starting"
  if (lifecycle === null || lifecycle === "created") return "Agent is connecting"
  if (lifecycle === "starting") return "Agent is starting"
  return health === "initializing" ? "App is initializing" : "Task is initializing"
}

/** There is no such task, or it may not be read. */
export const missingTask = new NotFound({ resource: "task" })
