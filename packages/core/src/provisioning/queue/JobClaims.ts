import { Context, Effect, Option } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobLogs } from "../jobs/JobEvents.js"
import { keepLogs, type NewJobLog } from "../logs/JobLog.js"
import type { FileId } from "../files/File.js"
import { JobLogRepository } from "../logs/JobLogRepository.js"
import { JobQueueRepository, type TakenJob } from "./JobQueueRepository.js"
import type { ProvisionerDaemon } from "../daemons/ProvisionerDaemon.js"
import { type ClaimedJob, ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"
import { type BuildFailure, WorkspaceBuildJobs } from "../jobs/WorkspaceBuildJobs.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { ClaimLost, changeOf, jobEnding } from "./JobEnding.js"
import { leaseDuration, jobTaking } from "./JobTaking.js"
import { jobReturn } from "./JobReturn.js"

/** Which of the jobs that fit its tags a daemon takes. */
export interface JobSelection {
  /** Sources whose jobs are left to other daemons. */
  readonly left: Effect.Effect<ReadonlyArray<FileId>>
  /** Whether the daemon takes the job, as far as is known. Does not wait, because the caller holds a lock. */
  readonly isTaken: (job: ClaimedJob) => boolean
  /** Finds out whether the daemon takes a job that `isTaken` cannot decide. */
  readonly judge: (job: ClaimedJob) => Effect.Effect<boolean>
}

/** Why a worker gives a job back that has not ended. */
export interface ReturnReason {
  /** Whether the job may be taken again. */
  readonly repeatable: boolean
  readonly cause: "daemon" | "stopping" | "store"
}

/** The methods of {@link JobClaims}. */
export interface JobClaimsService {
  /** Assigns the first waiting job that fits to the daemon; None if there is no such job. templates-and-provisioning.md §6.4. */
  readonly take: (daemon: ProvisionerDaemon) => Effect.Effect<Option.Option<TakenJob>>

  /**
   * As `take`, among the jobs that `selection` takes. The claim of any other is rolled back before another process can see it.
   * templates-and-provisioning.md §6.4.
   */
  readonly takeSelected: (
    daemon: ProvisionerDaemon,
    selection: JobSelection
  ) => Effect.Effect<Option.None<TakenJob> | Option.Some<TakenJob>, never, EventBus | Transactor>

  /** A sign of life; answers whether the job has been canceled. */
  readonly renew: (claim: ClaimedJob) => Effect.Effect<{ readonly canceled: boolean }, ClaimLost>

  /** Notes that a phase begins that must not run twice: if its server is lost from now on, the job fails. */
  readonly forbidRepeating: (claim: ClaimedJob) => Effect.Effect<undefined, ClaimLost>

  /** Stores rows of the job's log, as far as its limit allows, and tells followers. templates-and-provisioning.md §6.6. */
  readonly log: (claim: ClaimedJob, batch: ReadonlyArray<NewJobLog>) => Effect.Effect<void, ClaimLost, EventBus | Transactor>

  /** Stores what the work has found before its end. */
  readonly store: <A, E, R>(claim: ClaimedJob, write: Effect.Effect<A, E, R>) => Effect.Effect<A, ClaimLost | E, EventBus | Transactor | R>

  /**
   * Stores what the job made and the last rows of its log, and completes it, in one transaction; a canceled job ends as canceled all the same.
   * templates-and-provisioning.md §6.9.
   */
  readonly complete: <E extends ServiceError, R>(
    claim: ClaimedJob,
    store: Effect.Effect<void, E, R>,
    lastRows?: ReadonlyArray<NewJobLog>
  ) => Effect.Effect<void, ClaimLost | E, EventBus | Transactor | R>

  /** Ends the job as failed. templates-and-provisioning.md §6.8. */
  readonly fail: (claim: ClaimedJob, failure: BuildFailure) => Effect.Effect<void, ClaimLost, EventBus | Transactor>

  /** Ends a job as canceled whose work was interrupted for that reason. */
  readonly acknowledgeCancel: (claim: ClaimedJob) => Effect.Effect<void, ClaimLost, EventBus | Transactor>

  /**
   * Gives up a job whose work was interrupted, through no fault of the job. Another worker takes it, unless it was canceled or must not
   * be repeated.
   */
  readonly giveBack: (claim: ClaimedJob, reason: ReturnReason) => Effect.Effect<void, ClaimLost, EventBus | Transactor>

  /**
   * Ends the claim of a job whose lease has ended, because its server died or lost the store. The job is taken again unless a phase has
   * begun that must not run twice, or too many servers were lost with it. A claim whose server counts as dead ends before its lease, as soon as its worker
   * has stopped if the server lives after all.
   */
  readonly expire: (id: ClaimedJob["id"], deadClaim?: Uuid) => Effect.Effect<void, never, EventBus | Transactor>

  /** Ends a job without any activity since an instant, with a note in its log. templates-and-provisioning.md §6.7. */
  readonly reap: (
    id: ClaimedJob["id"],
    untouchedSince: Timestamp.Timestamp,
    reason: string
  ) => Effect.Effect<void, never, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerJobRepository
  const queue = yield* JobQueueRepository
  const logs = yield* JobLogRepository
  const builds = yield* WorkspaceBuildJobs
  const ids = yield* Ids

  const { held, release, endUnsuccessfully, requeue, told } = jobEnding({ repository, builds, logs })

  /** Adds rows to the log of a locked job. */
  const append = (job: ClaimedJob, batch: ReadonlyArray<NewJobLog>) =>
    Effect.gen(function* () {
      const kept = keepLogs(batch, { length: job.logs_length, overflowed: job.logs_overflowed })
      const firstId = yield* logs.append(job.id, kept.rows, kept.length, kept.overflowed)
      if (Option.isSome(firstId)) yield* publish(jobLogs(job.id), { created_after: firstId.value - 1 })
    })

  return {
    ...jobTaking({ queue, ids, told }),

    renew: Traced.fn("JobClaims.renew")(function* (claim: ClaimedJob) {
      const now = yield* Timestamp.now
      if (claim.claim_id === null) return yield* new ClaimLost()
      const renewed = yield* queue.renew(claim.id, claim.claim_id, now, Timestamp.plus(now, leaseDuration))
      if (Option.isNone(renewed)) return yield* new ClaimLost()
      return { canceled: renewed.value.canceled_at !== null }
    }),

    forbidRepeating: Traced.fn("JobClaims.forbidRepeating")(function* (claim: ClaimedJob) {
      if (claim.claim_id === null) return yield* new ClaimLost()
      if (!(yield* queue.forbidRepeating(claim.id, claim.claim_id, yield* Timestamp.now))) return yield* new ClaimLost()
    }),

    log: Traced.fn("JobClaims.log")(function* (claim: ClaimedJob, batch: ReadonlyArray<NewJobLog>) {
      yield* transaction(Effect.flatMap(held(claim), (job) => append(job, batch)))
    }),

    store: Traced.fn("JobClaims.store")(function* <A, E, R>(claim: ClaimedJob, write: Effect.Effect<A, E, R>) {
      return yield* transaction(Effect.zipRight(held(claim), write))
    }),

    complete: Traced.fn("JobClaims.complete")(function* <E extends ServiceError, R>(
      claim: ClaimedJob,
      store: Effect.Effect<void, E, R>,
      lastRows: ReadonlyArray<NewJobLog> = []
    ) {
      yield* transaction(
        Effect.gen(function* () {
          const job = yield* held(claim)
          const now = yield* Timestamp.now
          if (lastRows.length > 0) yield* append(job, lastRows)
          yield* release(job, yield* changeOf(job, "complete", now), "", now)
          yield* store
          yield* publish(jobLogs(job.id), { end_of_logs: true })
        })
      )
    }),

    fail: Traced.fn("JobClaims.fail")(function* (claim: ClaimedJob, failure: BuildFailure) {
      yield* transaction(Effect.flatMap(held(claim), (job) => endUnsuccessfully(job, "fail", failure)))
    }),

    acknowledgeCancel: Traced.fn("JobClaims.acknowledgeCancel")(function* (claim: ClaimedJob) {
      yield* transaction(
        Effect.flatMap(held(claim), (job) => endUnsuccessfully(job, "acknowledge_cancel", { message: "The job was canceled." }))
      )
    }),

    ...jobReturn({ held, endUnsuccessfully, queue, requeue, told, repository, logs })
  }
})

/** The daemons' operations on jobs. Every change is guarded by the claim, so that a worker that lost a job cannot change it. */
export class JobClaims extends Context.Tag("@atelier/core/JobClaims")<JobClaims, JobClaimsService>() {
  static readonly layer = service(JobClaims, make)
}
