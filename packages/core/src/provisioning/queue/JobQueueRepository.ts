import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { FileId } from "../files/File.js"
import type { MatchedProvisioners, ProvisionerJobId, ProvisionerType } from "../jobs/ProvisionerJob.js"
import type { ClaimedJob } from "../jobs/ProvisionerJobRepository.js"
import type { ProvisionerTags } from "./ProvisionerTags.js"

/** A job's place in a queue. */
export interface QueuePlace {
  readonly id: ProvisionerJobId
  readonly queue_position: number
  readonly queue_size: number
}

/** A request for a job, with the end of its lease. */
export interface Claim {
  readonly organization_id: Uuid
  readonly provisioners: ReadonlyArray<ProvisionerType>
  readonly tags: ProvisionerTags
  /** Sources that the claimant cannot run: their jobs are left to others. */
  readonly except?: ReadonlyArray<FileId> | undefined
  readonly worker_id: Uuid
  /** Identifies this claim of the job: a worker that lost it can no longer change the job. */
  readonly claim_id: Uuid
  readonly now: Timestamp
  readonly lease_expires_at: Timestamp
}

/** A job that a daemon has just taken. */
export interface TakenJob extends ClaimedJob {
  readonly initiator_username: string
}

/** A daemon that could take a job by its tags. */
export interface AvailableWorker {
  readonly job_id: ProvisionerJobId
  readonly daemon_id: Uuid
  readonly engines: ReadonlyArray<string> | null
}

/** The queue of waiting jobs, the daemons that could take them, and the leases of those that were taken. */
export class JobQueueRepository extends Context.Tag("@atelier/core/JobQueueRepository")<
  JobQueueRepository,
  {
    /**
     * The place of each of these pending jobs in the queues of the daemons seen since an instant: the best position and the largest
     * size. Jobs no such daemon takes are left out. templates-and-provisioning.md §6.3 (a).
     */
    readonly queuePlaces: (ids: ReadonlyArray<ProvisionerJobId>, seenSince: Timestamp) => Effect.Effect<ReadonlyArray<QueuePlace>>
    /** How many jobs of the whole deployment wait, and the place of each of these among them. templates-and-provisioning.md §6.3 (b). */
    readonly deploymentQueue: (
      ids: ReadonlyArray<ProvisionerJobId>
    ) => Effect.Effect<{ readonly size: number; readonly places: ReadonlyArray<QueuePlace> }>
    /** Gives the first waiting job that fits to exactly one claimant. templates-and-provisioning.md §6.4. */
    readonly acquire: (claim: Claim) => Effect.Effect<Option.Option<TakenJob>>
    /** The claim's heartbeat; None if the claim is lost or the job has ended. */
    readonly renew: (
      id: ProvisionerJobId,
      claimId: Uuid,
      now: Timestamp,
      leaseExpiresAt: Timestamp
    ) => Effect.Effect<Option.Option<{ readonly canceled_at: Timestamp | null }>>
    /** Notes that from now on the job must not be taken again; false when the claim is lost. */
    readonly forbidRepeating: (id: ProvisionerJobId, claimId: Uuid, now: Timestamp) => Effect.Effect<boolean>
    /** Takes back one count of `attempts`: the run ended through no fault of the job. */
    readonly discountAttempt: (id: ProvisionerJobId) => Effect.Effect<void>
    /** Jobs whose lease ended before now: their process has died or lost the store. At most `limit`. */
    readonly withExpiredLease: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<ProvisionerJobId>>
    /** The claims of the daemons that a process had, by that process. At most `limit`. */
    readonly claimsOf: (
      processId: Uuid,
      limit: number
    ) => Effect.Effect<ReadonlyArray<{ readonly id: ProvisionerJobId; readonly claim_id: Uuid }>>
    /** Jobs without any activity since an instant: waiting since `pendingSince`, or running without lease since `runningSince`. */
    readonly untouched: (pendingSince: Timestamp, runningSince: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<ProvisionerJobId>>
    /** Jobs that wait since before an instant and whose logs are empty. At most `limit`, at random. */
    readonly waitingSilently: (createdBefore: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<ProvisionerJobId>>
    /** Ends every lease at once. For the start of the only process that uses the store: no lease is that process's. */
    readonly endLeases: (now: Timestamp) => Effect.Effect<void>
    /** Lets leases that end later end at an instant. */
    readonly shortenLeases: (end: Timestamp) => Effect.Effect<void>
    /** Whether other processes may work on the same jobs. */
    readonly isShared: boolean
    /**
     * Which daemons could take each of these jobs: by organization, type and tags, oldest first. Of those seen since an instant, if one is given. `engines`
     * are the names of a daemon's engines, null if it has not told them.
     */
    readonly availableWorkers: (
      ids: ReadonlyArray<ProvisionerJobId>,
      seenSince?: Timestamp
    ) => Effect.Effect<ReadonlyArray<AvailableWorker>>
    /**
     * How many daemons of the job's organization carry its tags and were ever seen, and since an instant. Daemon types do not count.
     * templates-and-provisioning.md §3.3.
     */
    readonly matchedProvisioners: (
      ids: ReadonlyArray<ProvisionerJobId>,
      seenSince: Timestamp
    ) => Effect.Effect<ReadonlyArray<MatchedProvisioners & { readonly job_id: ProvisionerJobId }>>
  }
>() {}
