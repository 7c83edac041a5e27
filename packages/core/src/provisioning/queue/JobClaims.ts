import { Context, Data, Duration, Effect, Either, Option } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction, publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobLogs, jobPosted } from "../jobs/JobEvents.js"
import { keepLogs, type NewJobLog } from "../logs/JobLog.js"
import type { FileId } from "../files/File.js"
import { JobLogRepository } from "../logs/JobLogRepository.js"
import { JobQueueRepository, type TakenJob } from "./JobQueueRepository.js"
import type { ProvisionerDaemon } from "../daemons/ProvisionerDaemon.js"
import { type JobEvent, type JobProgress, jobStatus, progress } from "../jobs/ProvisionerJob.js"
import { type ClaimedJob, ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"
import { type BuildFailure, WorkspaceBuildJobs } from "../jobs/WorkspaceBuildJobs.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** Another worker has the job, or the job has ended: the work must stop, and its reports no longer count. */
export class ClaimLost extends Data.TaggedError("ClaimLost")<{}> {}

/** How long a claim lasts without a sign of life. */
export const leaseDuration = Duration.seconds(15)

/**
 * How long a job in a phase that must not run twice is left alone after its lease: its worker may only have lost the store, and another
 * build must not start beside it. The worker stops before.
 */
export const unrepeatableGrace = Duration.minutes(5)

/** How often a job is taken again after its server was lost: one whose servers die each time is given up. */
export const maximumRepetitions = 3

/** Which of the jobs that fit its tags a daemon takes. */
export interface JobSelection {
  /** Sources whose jobs are left to other daemons. */
  readonly left: () => ReadonlyArray<FileId>
  /** Whether the daemon takes the job, as far as is known. Does not wait, because the caller holds a lock. */
  readonly isTaken: (job: ClaimedJob) => boolean
  /** Finds out whether the daemon takes a job that `isTaken` cannot decide. */
  readonly judge: (job: ClaimedJob) => Effect.Effect<boolean>
}

/** The claim is rolled back. */
class NotTaken extends Data.TaggedError("NotTaken")<{ readonly job: ClaimedJob }> {}

/** Jobs that a daemon passes over before it lets others have a turn. */
const maximumSelected = 100

/** Why a worker gives a job back that has not ended. */
export interface ReturnReason {
  /** Whether the job may be taken again. */
  readonly repeatable: boolean
  readonly cause: "daemon" | "stopping" | "store"
}

/** The log's line after those of a run that is repeated. */
const repeats = {
  daemon: "The daemon that ran this job was lost. The job starts again; the lines above are of the lost run.",
  lost: "The server that ran this job was lost. The job starts again; the lines above are of the lost run.",
  stopping: "The server that ran this job stopped. The job starts again; the lines above are of the interrupted run.",
  store: "The server that ran this job lost the store. The job starts again; the lines above are of the interrupted run."
} as const

const interrupted = {
  daemon: "The daemon was lost while it changed the workspace.",
  stopping: "The server was stopped while it changed the workspace.",
  store: "The server lost the store while it changed the workspace."
} as const

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
   * Stores what the job made and completes it, in one transaction; a canceled job ends as canceled all the same.
   * templates-and-provisioning.md §6.9.
   */
  readonly complete: <E extends ServiceError, R>(
    claim: ClaimedJob,
    store: Effect.Effect<void, E, R>
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
   * begun that must not run twice, or too many servers were lost with it. A claim whose server is known to be dead ends before its lease.
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

  /** The job as it is now, locked; fails when the claim does not hold any more. */
  const held = (claim: ClaimedJob): Effect.Effect<ClaimedJob, ClaimLost> =>
    Effect.flatMap(
      repository.lock(claim.id),
      Option.match({
        onNone: () => new ClaimLost(),
        onSome: (job) => (job.claim_id === claim.claim_id && job.completed_at === null ? Effect.succeed(job) : new ClaimLost())
      })
    )

  /** Writes a change that ends the work on a job. */
  const release = (job: ClaimedJob, change: JobProgress, errorCode: string, now: Timestamp.Timestamp) =>
    repository.update(job.id, {
      ...change,
      error_code: errorCode,
      worker_id: change.started_at === null ? null : job.worker_id,
      claim_id: null,
      lease_expires_at: null,
      updated_at: now
    })

  const changeOf = (job: ClaimedJob, event: JobEvent, now: Timestamp.Timestamp, error?: string): Effect.Effect<JobProgress> => {
    const change = progress(job, event, now, error === "" ? undefined : error)
    return change === undefined ? Effect.dieMessage(`A ${jobStatus(job)} job does not ${event}`) : Effect.succeed(change)
  }

  /** Ends a locked job without success, with everything that follows from it. */
  const endUnsuccessfully = (job: ClaimedJob, event: "fail" | "acknowledge_cancel" | "reap", failure: BuildFailure) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      yield* release(job, yield* changeOf(job, event, now, failure.message), failure.code ?? "", now)
      if (job.input.workspace_build_id !== undefined) yield* builds.ended(job.input.workspace_build_id, failure)
      yield* publish(jobLogs(job.id), { end_of_logs: true })
    })

  /** Ends what a run has logged with a line that tells it from the next run. */
  const markLog = (job: ClaimedJob, output: string, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const stage = Option.getOrElse(yield* logs.lastStage(job.id), () => "")
      const row = { created_at: now, log_source: "provisioner_daemon", log_level: "warn", stage, output } as const
      const kept = keepLogs([row], { length: job.logs_length, overflowed: job.logs_overflowed })
      const id = yield* logs.append(job.id, kept.rows, kept.length, kept.overflowed)
      if (Option.isSome(id)) yield* publish(jobLogs(job.id), { created_after: id.value - 1 })
    })

  /** Puts a locked job back into the queue. */
  const requeue = (job: ClaimedJob, notice: string) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      yield* markLog(job, notice, now)
      yield* release(job, yield* changeOf(job, "requeue", now), "", now)
      yield* publish(jobPosted, { organization_id: job.organization_id, type: job.provisioner, tags: job.tags })
    })

  const told = (job: ClaimedJob): Effect.Effect<void> =>
    job.input.workspace_build_id === undefined ? Effect.void : builds.changed(job.input.workspace_build_id)

  const acquire = (daemon: ProvisionerDaemon, except: ReadonlyArray<FileId> = []) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      return yield* queue.acquire({
        organization_id: daemon.organization_id,
        provisioners: daemon.provisioners,
        tags: daemon.tags,
        except,
        worker_id: daemon.id,
        claim_id: yield* ids.next,
        now,
        lease_expires_at: Timestamp.plus(now, leaseDuration)
      })
    })

  const takenBy =
    (selection: JobSelection) =>
    (job: Option.Option<TakenJob>): Effect.Effect<Option.Option<TakenJob>, NotTaken> =>
      Option.isNone(job) || selection.isTaken(job.value) ? Effect.succeed(job) : new NotTaken({ job: job.value })

  return {
    take: Traced.fn("JobClaims.take")(function* (daemon: ProvisionerDaemon) {
      const job = yield* acquire(daemon)
      if (Option.isSome(job)) yield* told(job.value)
      return job
    }),

    takeSelected: Traced.fn("JobClaims.takeSelected")(function* (daemon: ProvisionerDaemon, selection: JobSelection) {
      for (let attempts = 0; attempts < maximumSelected; attempts++) {
        const attempt = yield* Effect.either(transaction(Effect.flatMap(acquire(daemon, selection.left()), takenBy(selection))))
        if (Either.isRight(attempt)) {
          if (Option.isSome(attempt.right)) yield* told(attempt.right.value)
          return attempt.right
        }
        const { job } = attempt.left
        const { organization_id, provisioner, tags } = job
        // Others may have passed over the job while it was locked
        if (!(yield* selection.judge(job))) yield* publish(jobPosted, { organization_id, type: provisioner, tags })
      }
      return Option.none()
    }),

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
      yield* transaction(
        Effect.gen(function* () {
          const job = yield* held(claim)
          const kept = keepLogs(batch, { length: job.logs_length, overflowed: job.logs_overflowed })
          const firstId = yield* logs.append(job.id, kept.rows, kept.length, kept.overflowed)
          if (Option.isSome(firstId)) yield* publish(jobLogs(job.id), { created_after: firstId.value - 1 })
        })
      )
    }),

    store: Traced.fn("JobClaims.store")(function* <A, E, R>(claim: ClaimedJob, write: Effect.Effect<A, E, R>) {
      return yield* transaction(Effect.zipRight(held(claim), write))
    }),

    complete: Traced.fn("JobClaims.complete")(function* <E extends ServiceError, R>(claim: ClaimedJob, store: Effect.Effect<void, E, R>) {
      yield* transaction(
        Effect.gen(function* () {
          const job = yield* held(claim)
          const now = yield* Timestamp.now
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

    giveBack: Traced.fn("JobClaims.giveBack")(function* (claim: ClaimedJob, { cause, repeatable }: ReturnReason) {
      const job = yield* transaction(
        Effect.gen(function* () {
          const job = yield* held(claim)
          if (job.canceled_at !== null) yield* endUnsuccessfully(job, "acknowledge_cancel", { message: "The job was canceled." })
          else if (repeatable) yield* Effect.zipRight(queue.discountAttempt(job.id), requeue(job, repeats[cause]))
          else yield* endUnsuccessfully(job, "fail", { message: interrupted[cause] })
          return job
        })
      )
      yield* told(job)
    }),

    expire: Traced.fn("JobClaims.expire")(function* (id: ClaimedJob["id"], deadClaim?: Uuid) {
      const expired = yield* hurriedTransaction(
        Effect.gen(function* () {
          const job = Option.getOrUndefined(yield* repository.lock(id))
          if (job === undefined || job.completed_at !== null || job.lease_expires_at === null) return undefined
          const now = yield* Timestamp.now
          const mayBeRunning =
            job.unrepeatable && job.canceled_at === null && job.lease_expires_at > Timestamp.minus(now, unrepeatableGrace)
          // The job may have been taken again since its server was found dead
          const isLost = deadClaim === undefined ? job.lease_expires_at <= now : job.claim_id === deadClaim
          if (!isLost || mayBeRunning) return undefined
          if (job.canceled_at !== null) yield* endUnsuccessfully(job, "acknowledge_cancel", { message: "The job was canceled." })
          else if (job.unrepeatable) {
            yield* endUnsuccessfully(job, "reap", { message: "The server that ran the job was lost while it changed the workspace." })
          } else if (job.attempts > maximumRepetitions) {
            yield* endUnsuccessfully(job, "reap", { message: `The job was given up: its server was lost ${job.attempts} times.` })
          } else yield* requeue(job, repeats.lost)
          return job
        })
      )
      if (expired !== undefined) yield* told(expired)
    }),

    reap: Traced.fn("JobClaims.reap")(function* (id: ClaimedJob["id"], untouchedSince: Timestamp.Timestamp, reason: string) {
      yield* hurriedTransaction(
        Effect.gen(function* () {
          const job = Option.getOrUndefined(yield* repository.lock(id))
          if (job === undefined || job.completed_at !== null || job.updated_at >= untouchedSince) return
          const now = yield* Timestamp.now
          const stage = Option.getOrElse(yield* logs.lastStage(id), () => "Unknown")
          const ruler = "=".repeat(20)
          const rows = ["", ruler, reason, ruler, ""].map((output, index) => ({
            created_at: Timestamp.plus(now, Duration.millis(index)),
            log_source: "provisioner_daemon" as const,
            log_level: "error" as const,
            stage,
            output
          }))
          yield* logs.append(id, rows, job.logs_length, job.logs_overflowed)
          yield* endUnsuccessfully(job, "reap", { message: reason })
        })
      )
    })
  }
})

/** The daemons' operations on jobs. Every change is guarded by the claim, so that a worker that lost a job cannot change it. */
export class JobClaims extends Context.Tag("@atelier/core/JobClaims")<JobClaims, JobClaimsService>() {
  static readonly layer = service(JobClaims, make)
}
