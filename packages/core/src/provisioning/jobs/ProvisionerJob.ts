/** Work for a provisioner: to import a template version, or to build a workspace. templates-and-provisioning.md §6.1. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "./BuildTransition.js"
import { ProvisionerTags } from "../queue/ProvisionerTags.js"
import { ParameterValue, UserVariableValue } from "../engines/SourceDefinitions.js"

export const ProvisionerJobId = Uuid
export type ProvisionerJobId = Uuid

export const JobType = Schema.Literal("template_version_import", "workspace_build", "template_version_dry_run")
export type JobType = typeof JobType.Type

/** `unknown` is accepted by filters and never derived. */
export const JobStatus = Schema.Literal("pending", "running", "succeeded", "canceling", "canceled", "failed", "unknown")
export type JobStatus = typeof JobStatus.Type

/** The engine that a template's author names. */
export const ProvisionerType = Schema.Literal("terraform", "echo")
export type ProvisionerType = typeof ProvisionerType.Type

/** The subject of the job: a version (import, dry run) or a build. */
export const JobInput = Schema.Struct({
  template_id: Schema.optional(Uuid),
  template_version_id: Schema.optional(Uuid),
  workspace_build_id: Schema.optional(Uuid),
  user_variable_values: Schema.optional(Schema.Array(UserVariableValue)),
  /** What a dry run plans with. */
  workspace_name: Schema.optional(Schema.String),
  rich_parameter_values: Schema.optional(Schema.Array(ParameterValue)),
  /** `debug` asks the provisioner for more. */
  log_level: Schema.optional(Schema.Literal("debug")),
  /** 1 creates a prebuilt workspace, 2 claims one. */
  prebuilt_workspace_stage: Schema.optional(Schema.Literal(1, 2))
})
export interface JobInput extends Schema.Schema.Type<typeof JobInput> {}

/** A job as it is stored. */
export const ProvisionerJob = Schema.Struct({
  id: ProvisionerJobId,
  created_at: Timestamp,
  /** Of the last change or sign of life. */
  updated_at: Timestamp,
  started_at: Schema.NullOr(Timestamp),
  canceled_at: Schema.NullOr(Timestamp),
  completed_at: Schema.NullOr(Timestamp),
  /** Empty unless the job failed. */
  error: Schema.String,
  /** A `JobErrorCode`, or empty. */
  error_code: Schema.String,
  organization_id: Uuid,
  initiator_id: Uuid,
  provisioner: ProvisionerType,
  type: JobType,
  /** The template's source. */
  file_id: Uuid,
  input: JobInput,
  tags: ProvisionerTags,
  /** The daemon that works or worked on it. */
  worker_id: Schema.NullOr(Uuid),
  /** Bytes of output kept. */
  logs_length: Schema.Number,
  logs_overflowed: Schema.Boolean
})
export interface ProvisionerJob extends Schema.Schema.Type<typeof ProvisionerJob> {}

/** The columns a status follows from. */
export type JobProgress = Pick<ProvisionerJob, "started_at" | "canceled_at" | "completed_at" | "error">

/**
 * The columns that are filled in each status. The first status whose columns are all filled holds, so the order counts. Stores derive the
 * same from it. §6.1.
 */
export const jobStatusRules = [
  { status: "failed", filled: ["error"] },
  { status: "canceled", filled: ["completed_at", "canceled_at"] },
  { status: "succeeded", filled: ["completed_at"] },
  { status: "canceling", filled: ["canceled_at"] },
  { status: "running", filled: ["started_at"] },
  { status: "pending", filled: [] }
] as const satisfies ReadonlyArray<{ readonly status: JobStatus; readonly filled: ReadonlyArray<keyof JobProgress> }>

/** Where the job stands. §6.1. */
export const jobStatus = (job: JobProgress): Exclude<JobStatus, "unknown"> => {
  const isFilled = (column: keyof JobProgress): boolean => job[column] !== null && job[column] !== ""
  return jobStatusRules.find(({ filled }) => filled.every(isFilled))?.status ?? "pending"
}

/** Whether the job may still change. */
export const isActive = (status: JobStatus): boolean => status === "pending" || status === "running" || status === "canceling"

/** Events of a job: a daemon takes it, loses it, or reports its end; a user cancels it; its worker is silent for too long. */
export type JobEvent = "acquire" | "requeue" | "cancel" | "complete" | "fail" | "acknowledge_cancel" | "reap"

/** The status that each event leads to; an event that is not listed is refused. */
export const jobTransitions = {
  pending: { acquire: "running", cancel: "canceled", reap: "failed" },
  running: { requeue: "pending", cancel: "canceling", complete: "succeeded", fail: "failed", reap: "failed" },
  canceling: { complete: "canceled", fail: "failed", acknowledge_cancel: "canceled", reap: "failed" },
  succeeded: {},
  canceled: {},
  failed: {},
  unknown: {}
} as const satisfies Record<JobStatus, Partial<Record<JobEvent, JobStatus>>>

/**
 * Returns the changes of an event to a job, or undefined if its status does not allow the event. `error` is a failure's text, which is
 * never empty.
 */
export const progress = (
  job: JobProgress,
  event: JobEvent,
  now: Timestamp,
  error = "The job failed without saying why."
): JobProgress | undefined => {
  const allowed: Partial<Record<JobEvent, JobStatus>> = jobTransitions[jobStatus(job)]
  if (allowed[event] === undefined) return undefined
  const before: JobProgress = { started_at: job.started_at, canceled_at: job.canceled_at, completed_at: job.completed_at, error: job.error }
  switch (event) {
    case "acquire":
      return { ...before, started_at: now }
    case "requeue":
      return { ...before, started_at: null }
    case "cancel":
      return { ...before, canceled_at: now, completed_at: before.started_at === null ? now : null }
    case "complete":
    case "acknowledge_cancel":
      return { ...before, completed_at: now }
    case "fail":
      return { ...before, completed_at: now, error }
    case "reap":
      return { ...before, started_at: before.started_at ?? now, completed_at: now, error }
  }
}

/** A job with its place in the queue; 0 of 0 if it does not wait or no daemon fits. §6.3 (a). */
export interface QueuedJob extends ProvisionerJob {
  readonly queue_position: number
  readonly queue_size: number
}

/** A job as lists of an organization show it. §6.10. */
export interface ListedJob extends QueuedJob {
  /** Daemons that could take the job, oldest first; none once it has started. */
  readonly available_workers: ReadonlyArray<Uuid>
  /** Empty until a daemon has taken it. */
  readonly worker_name: string
  readonly metadata: JobMetadata
}

/** The names and ids of the job's subject; empty texts and nil ids if they do not apply. */
export const JobMetadata = Schema.Struct({
  template_version_name: Schema.String,
  template_id: Uuid,
  template_name: Schema.String,
  template_display_name: Schema.String,
  template_icon: Schema.String,
  workspace_id: Schema.NullOr(Uuid),
  workspace_name: Schema.NullOr(Schema.String),
  workspace_build_transition: Schema.NullOr(BuildTransition)
})
export interface JobMetadata extends Schema.Schema.Type<typeof JobMetadata> {}

/** A job to be queued. */
export interface NewJob {
  readonly organization_id: Uuid
  readonly initiator_id: Uuid
  readonly provisioner: ProvisionerType
  readonly type: JobType
  readonly file_id: Uuid
  readonly input: JobInput
  /** Normalised. */
  readonly tags: ProvisionerTags
}

/** Daemons that could take a job. §3.3. */
export interface MatchedProvisioners {
  /** Ever seen. */
  readonly count: number
  /** Seen within 90 seconds. */
  readonly available: number
  readonly most_recently_seen: Timestamp | null
}
