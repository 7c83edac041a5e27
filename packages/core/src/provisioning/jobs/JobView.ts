/** Jobs as readers see them: the stored fields and those derived from them. templates-and-provisioning.md §6.1, §6.10. */
import { Schema } from "effect"
import { present } from "../../platform/lists/Present.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { nil, Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "./BuildTransition.js"
import { JobStatus, jobStatus, JobType, type JobMetadata, type ListedJob, type QueuedJob } from "./ProvisionerJob.js"
import { ProvisionerTags } from "../queue/ProvisionerTags.js"

export const JobMetadataView = Schema.Struct({
  template_version_name: Schema.String,
  template_id: Uuid,
  template_name: Schema.String,
  template_display_name: Schema.String,
  template_icon: Schema.String,
  workspace_id: Schema.optional(Uuid),
  workspace_name: Schema.optional(Schema.String),
  workspace_build_transition: Schema.optional(BuildTransition)
})

export const JobView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  started_at: Schema.optional(Timestamp),
  completed_at: Schema.optional(Timestamp),
  canceled_at: Schema.optional(Timestamp),
  error: Schema.optional(Schema.String),
  error_code: Schema.optional(Schema.String),
  status: JobStatus,
  worker_id: Schema.optional(Uuid),
  worker_name: Schema.optional(Schema.String),
  file_id: Uuid,
  tags: ProvisionerTags,
  queue_position: Numbers.Count,
  queue_size: Numbers.Count,
  organization_id: Uuid,
  initiator_id: Uuid,
  input: Schema.Struct({ template_version_id: Schema.optional(Uuid), workspace_build_id: Schema.optional(Uuid) }),
  type: JobType,
  /** In lists of an organization only. */
  available_workers: Schema.optional(Schema.Array(Uuid)),
  /** Empty but in lists of an organization. */
  metadata: JobMetadataView,
  logs_overflowed: Schema.Boolean
})
export interface JobView extends Schema.Schema.Type<typeof JobView> {}

const noMetadata: typeof JobMetadataView.Type = {
  template_version_name: "",
  template_id: nil,
  template_name: "",
  template_display_name: "",
  template_icon: ""
}

const metadataView = ({
  workspace_build_transition,
  workspace_id,
  workspace_name,
  ...names
}: JobMetadata): typeof JobMetadataView.Type => ({
  ...names,
  ...present("workspace_id", workspace_id),
  ...present("workspace_name", workspace_name),
  ...present("workspace_build_transition", workspace_build_transition)
})

/** A job where it is part of something else, such as a build or a version. */
export const jobView = (job: QueuedJob): JobView => ({
  id: job.id,
  created_at: job.created_at,
  ...present("started_at", job.started_at),
  ...present("completed_at", job.completed_at),
  ...present("canceled_at", job.canceled_at),
  ...present("error", job.error),
  ...present("error_code", job.error_code),
  status: jobStatus(job),
  ...present("worker_id", job.worker_id),
  file_id: job.file_id,
  tags: job.tags,
  queue_position: job.queue_position,
  queue_size: job.queue_size,
  organization_id: job.organization_id,
  initiator_id: job.initiator_id,
  input: {
    ...present("template_version_id", job.input.template_version_id),
    ...present("workspace_build_id", job.input.workspace_build_id)
  },
  type: job.type,
  metadata: noMetadata,
  logs_overflowed: job.logs_overflowed
})

/** A job in a list of its organization. */
export const listedJobView = (job: ListedJob): JobView => ({
  ...jobView(job),
  ...(job.available_workers.length === 0 ? {} : { available_workers: job.available_workers }),
  ...present("worker_name", job.worker_name),
  metadata: metadataView(job.metadata)
})

export const MatchedProvisionersView = Schema.Struct({
  count: Numbers.Count,
  available: Numbers.Count,
  most_recently_seen: Schema.NullOr(Timestamp)
})
export interface MatchedProvisionersView extends Schema.Schema.Type<typeof MatchedProvisionersView> {}
