import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { JobTiming } from "./JobTiming.js"
import type { JobMetadata, JobProgress, JobStatus, ProvisionerJob, ProvisionerJobId } from "./ProvisionerJob.js"
import type { ProvisionerTags } from "../queue/ProvisionerTags.js"

/** The filter of a list of jobs. Absent fields do not restrict it. */
export interface JobFilter {
  readonly organization_id: Uuid
  readonly ids?: ReadonlyArray<ProvisionerJobId> | undefined
  readonly status?: ReadonlyArray<JobStatus> | undefined
  /** All of them have to be tags of the job. */
  readonly tags?: ProvisionerTags | undefined
  readonly initiator_id?: Uuid | undefined
  /** 0 has no limit. */
  readonly limit: number
}

/** A job as background work on it needs to see it. */
export interface ClaimedJob extends ProvisionerJob {
  readonly claim_id: Uuid | null
  readonly lease_expires_at: Timestamp | null
  /** How often it was taken. */
  readonly attempts: number
  /** Whether a phase has begun for it that must not run again. */
  readonly unrepeatable: boolean
}

/** Jobs, and what they are for. */
export class ProvisionerJobRepository extends Context.Tag("@atelier/core/ProvisionerJobRepository")<
  ProvisionerJobRepository,
  {
    readonly insert: (jobs: ReadonlyArray<ProvisionerJob>) => Effect.Effect<void>
    readonly byId: (id: ProvisionerJobId) => Effect.Effect<Option.Option<ProvisionerJob>>
    /** How long the engine took for parts of a job, in their order. */
    readonly timings: (id: ProvisionerJobId) => Effect.Effect<ReadonlyArray<JobTiming>>
    readonly insertTimings: (timings: ReadonlyArray<JobTiming>) => Effect.Effect<void>
    readonly byIds: (ids: ReadonlyArray<ProvisionerJobId>) => Effect.Effect<ReadonlyArray<ProvisionerJob>>
    /** Newest first. */
    readonly list: (filter: JobFilter) => Effect.Effect<ReadonlyArray<ProvisionerJob>>
    /** The names of what the jobs are for. */
    readonly metadataOf: (
      ids: ReadonlyArray<ProvisionerJobId>
    ) => Effect.Effect<ReadonlyArray<JobMetadata & { readonly id: ProvisionerJobId }>>
    /** The job, kept from being changed by others until the transaction ends. */
    readonly lock: (id: ProvisionerJobId) => Effect.Effect<Option.Option<ClaimedJob>>
    /** Writes what an event changed in a locked job, and who works on it from now on. */
    readonly update: (
      id: ProvisionerJobId,
      change: JobProgress & Pick<ClaimedJob, "error_code" | "worker_id" | "claim_id" | "lease_expires_at" | "updated_at">
    ) => Effect.Effect<void>
  }
>() {}
