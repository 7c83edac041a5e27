import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildReason } from "../../provisioning/jobs/BuildReason.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import type { JobStatus } from "../../provisioning/jobs/ProvisionerJob.js"

export const WorkspaceBuildId = Uuid
export type WorkspaceBuildId = Uuid

/** The reasons a caller may give; all others are the service's own. */
export const RequestedBuildReason = BuildReason.pipe(
  Schema.pickLiteral("dashboard", "cli", "ssh_connection", "vscode_connection", "jetbrains_connection", "task_manual_pause")
)
export type RequestedBuildReason = typeof RequestedBuildReason.Type

/** The status of a build, and of the workspace whose latest build it is. */
export const WorkspaceStatus = Schema.Literal(
  "pending",
  "starting",
  "running",
  "stopping",
  "stopped",
  "failed",
  "canceling",
  "canceled",
  "deleting",
  "deleted"
)
export type WorkspaceStatus = typeof WorkspaceStatus.Type

/** §1.1. Stores derive the same from their columns, to filter and order by it. */
const statuses = {
  pending: { start: "pending", stop: "pending", delete: "pending" },
  running: { start: "starting", stop: "stopping", delete: "deleting" },
  succeeded: { start: "running", stop: "stopped", delete: "deleted" },
  canceling: { start: "canceling", stop: "canceling", delete: "canceling" },
  canceled: { start: "canceled", stop: "canceled", delete: "canceled" },
  failed: { start: "failed", stop: "failed", delete: "failed" },
  unknown: { start: "failed", stop: "failed", delete: "failed" }
} as const satisfies Record<JobStatus, Record<BuildTransition, WorkspaceStatus>>

/** The status of a build: where its job stands, read with what the job is for. */
export const buildStatus = (job: JobStatus, transition: BuildTransition): WorkspaceStatus => statuses[job][transition]

/** One change of a workspace's resources, carried out by a provisioner job, as it is stored. What the engine keeps is stored with it. */
export const WorkspaceBuild = Schema.Struct({
  id: WorkspaceBuildId,
  created_at: Timestamp,
  updated_at: Timestamp,
  workspace_id: Uuid,
  template_version_id: Uuid,
  /** Counts up from 1 within a workspace; unique there. */
  build_number: Schema.Number,
  transition: BuildTransition,
  initiator_id: Uuid,
  job_id: Uuid,
  /** When a start ends by itself; null never. Never later than `max_deadline`. §5.2. */
  deadline: Schema.NullOr(Timestamp),
  max_deadline: Schema.NullOr(Timestamp),
  reason: BuildReason,
  daily_cost: Schema.Number,
  template_version_preset_id: Schema.NullOr(Uuid),
  /** Null until the job has succeeded. */
  has_ai_task: Schema.NullOr(Schema.Boolean),
  has_external_agent: Schema.NullOr(Schema.Boolean),
  /** Where the request came from; `127.0.0.1` for the service's own builds. */
  initiator_ip: Schema.String
})
export interface WorkspaceBuild extends Schema.Schema.Type<typeof WorkspaceBuild> {}
