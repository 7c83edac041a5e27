import { Context, Duration, Effect, type Stream } from "effect"
import { ExpectationMismatch, Invalid, NotFound } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { makeSharedReads, source } from "../../platform/events/SharedReads.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobCanceled, jobLogs, jobPosted } from "./JobEvents.js"
import type { JobLog } from "../logs/JobLog.js"
import { JobLogRepository } from "../logs/JobLogRepository.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import { daemonTimeout } from "../daemons/ProvisionerDaemon.js"
import {
  isActive,
  type JobStatus,
  jobStatus,
  type MatchedProvisioners,
  type NewJob,
  progress,
  type ProvisionerJob,
  type ProvisionerJobId,
  type QueuedJob
} from "./ProvisionerJob.js"
import { type ClaimedJob, ProvisionerJobRepository } from "./ProvisionerJobRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import { jobLogReads } from "./JobLogReads.js"

/** How long a follower relies on events before it looks for itself. */
const followInterval = Duration.seconds(30)

const missing = new NotFound({ resource: "provisioner_job" })

/** The methods of {@link ProvisionerJobs}. */
export interface ProvisionerJobsService {
  /**
   * Queues a job, in the caller's transaction; daemons that wait for such a job are told after the commit. Authorized by what the job
   * is for. templates-and-provisioning.md §6.4.
   */
  readonly insert: (job: NewJob) => Effect.Effect<ProvisionerJob, never, EventBus>

  /** As `insert`, of many, in their order. One statement. */
  readonly insertAll: (jobs: ReadonlyArray<NewJob>) => Effect.Effect<ReadonlyArray<ProvisionerJob>, never, EventBus>

  /** Stores a job whose work is done already, in the caller's transaction. No daemon is told of it. */
  readonly insertDone: (job: NewJob) => Effect.Effect<ProvisionerJob>

  /**
   * Jobs that were read already, with their places in the queue; those that do not wait, or that no live daemon takes, have none. At
   * most one statement.
   */
  readonly withQueue: (jobs: ReadonlyArray<ProvisionerJob>) => Effect.Effect<ReadonlyArray<QueuedJob>>

  /** One job with its place in the queue. Authorized by what the job is for. Two statements. */
  readonly get: (id: ProvisionerJobId) => Effect.Effect<QueuedJob, NotFound>

  /** Jobs by id, with their places in the queue. Callers authorize by the jobs' subjects. Two statements, for any number of jobs. */
  readonly byIds: (jobIds: ReadonlyArray<ProvisionerJobId>) => Effect.Effect<Map<Uuid, QueuedJob>>

  /** How many daemons could take each of these jobs. One statement. templates-and-provisioning.md §3.3. */
  readonly matchedProvisioners: (jobIds: ReadonlyArray<ProvisionerJobId>) => Effect.Effect<Map<Uuid, MatchedProvisioners>>

  /**
   * Cancels a job: at once while it waits, else its worker is told to stop. Joins the caller's transaction and is authorized by what
   * the job is for. Fails with `Invalid` when it has ended or is canceled already, with `ExpectationMismatch` when its status is not
   * the one expected. templates-and-provisioning.md §3.5, §6.1.
   */
  readonly cancel: (
    id: ProvisionerJobId,
    options?: { readonly expectStatus?: JobStatus | undefined }
  ) => Effect.Effect<ClaimedJob, Invalid | NotFound | ExpectationMismatch, EventBus | Transactor>

  /** The rows with ids larger than `after`, oldest first, read as they are consumed. Authorized by what the job is for. */
  readonly logs: (id: ProvisionerJobId, after: number) => Stream.Stream<JobLog>

  /**
   * Streams the rows with ids larger than `after`, then new ones, until the job ends. It subscribes before it reads and reads again after
   * lost events, so no row is missed or repeated. New rows are read once for all followers. templates-and-provisioning.md §6.6.
   */
  readonly follow: (id: ProvisionerJobId, after: number) => Stream.Stream<JobLog>
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerJobRepository
  const queue = yield* JobQueueRepository
  const logs = yield* JobLogRepository
  const ids = yield* Ids

  const alive = Effect.map(Timestamp.now, (now) => Timestamp.minus(now, daemonTimeout))

  const withQueue = (jobs: ReadonlyArray<ProvisionerJob>): Effect.Effect<ReadonlyArray<QueuedJob>> =>
    Effect.gen(function* () {
      const pending = jobs.filter((job) => jobStatus(job) === "pending").map(({ id }) => id)
      const places = pending.length === 0 ? [] : yield* queue.queuePlaces(pending, yield* alive)
      const byId = new Map(places.map((place) => [place.id, place]))
      return jobs.map((job) => ({
        ...job,
        queue_position: byId.get(job.id)?.queue_position ?? 0,
        queue_size: byId.get(job.id)?.queue_size ?? 0
      }))
    })

  const followed = yield* makeSharedReads<ProvisionerJobId>({
    nameOf: (id) => id,
    sourcesOf: (id) => [source(jobLogs(id))],
    every: followInterval
  })

  const jobLogReadsParts = jobLogReads({ followed, logs, repository })
  const { logsAfter } = jobLogReadsParts

  const rowOf = (job: NewJob, now: Timestamp.Timestamp) =>
    Effect.map(ids.next, (id): ProvisionerJob => ({
      ...job,
      id,
      created_at: now,
      updated_at: now,
      started_at: null,
      canceled_at: null,
      completed_at: null,
      error: "",
      error_code: "",
      worker_id: null,
      logs_length: 0,
      logs_overflowed: false
    }))

  const queued = (rows: ReadonlyArray<ProvisionerJob>) =>
    Effect.zipRight(
      repository.insert(rows),
      Effect.forEach(rows, ({ organization_id, provisioner: type, tags }) => publish(jobPosted, { organization_id, type, tags }), {
        discard: true
      })
    )

  return {
    insertDone: Traced.fn("ProvisionerJobs.insertDone")(function* (job: NewJob) {
      const now = yield* Timestamp.now
      const row: ProvisionerJob = { ...(yield* rowOf(job, now)), started_at: now, completed_at: now }
      yield* repository.insert([row])
      return row
    }),

    insert: Traced.fn("ProvisionerJobs.insert")(function* (job: NewJob) {
      const row = yield* rowOf(job, yield* Timestamp.now)
      yield* queued([row])
      return row
    }),

    insertAll: Traced.fn("ProvisionerJobs.insertAll")(function* (all: ReadonlyArray<NewJob>) {
      const now = yield* Timestamp.now
      const rows = yield* Effect.forEach(all, (job) => rowOf(job, now))
      yield* queued(rows)
      return rows
    }),

    withQueue,

    get: Traced.fn("ProvisionerJobs.get")(function* (id: ProvisionerJobId) {
      const job = yield* Effect.flatten(repository.byId(id)).pipe(Effect.mapError(() => missing))
      const [queued] = yield* withQueue([job])
      return queued ?? { ...job, queue_position: 0, queue_size: 0 }
    }),

    byIds: Traced.fn("ProvisionerJobs.byIds")(function* (jobIds: ReadonlyArray<ProvisionerJobId>) {
      const jobs = jobIds.length === 0 ? [] : yield* repository.byIds(jobIds)
      return new Map((yield* withQueue(jobs)).map((job) => [job.id, job]))
    }),

    matchedProvisioners: Traced.fn("ProvisionerJobs.matchedProvisioners")(function* (jobIds: ReadonlyArray<ProvisionerJobId>) {
      const matched = jobIds.length === 0 ? [] : yield* queue.matchedProvisioners(jobIds, yield* alive)
      return new Map(matched.map(({ job_id, ...provisioners }): [Uuid, MatchedProvisioners] => [job_id, provisioners]))
    }),

    cancel: Traced.fn("ProvisionerJobs.cancel")(function* (
      id: ProvisionerJobId,
      options: { readonly expectStatus?: JobStatus | undefined } = {}
    ) {
      return yield* transaction(
        Effect.gen(function* () {
          const job = yield* Effect.flatten(repository.lock(id)).pipe(Effect.mapError(() => missing))
          const status = jobStatus(job)
          if (!isActive(status)) return yield* new Invalid({ message: "Job has already completed!", detail: `Its status is ${status}.` })
          if (status === "canceling") return yield* new Invalid({ message: "Job has already been marked as canceled!" })
          if (options.expectStatus !== undefined && options.expectStatus !== status) {
            return yield* new ExpectationMismatch({ message: `Job is not ${options.expectStatus}.`, detail: `Its status is ${status}.` })
          }
          const now = yield* Timestamp.now
          const change = progress(job, "cancel", now)
          if (change === undefined) return yield* Effect.dieMessage(`A ${status} job cannot be canceled`)
          const { claim_id, error_code, lease_expires_at, worker_id } = job
          yield* repository.update(id, { ...change, error_code, claim_id, lease_expires_at, worker_id, updated_at: now })
          if (change.completed_at === null) yield* publish(jobCanceled(id), {})
          else yield* publish(jobLogs(id), { end_of_logs: true })
          return { ...job, ...change, updated_at: now }
        })
      )
    }),

    logs: logsAfter,

    follow: jobLogReadsParts.follow
  }
})

/** Jobs: queueing, canceling and reading them. The daemons' use cases are in `JobClaims`, the API's lists in `OrganizationJobs`. */
export class ProvisionerJobs extends Context.Tag("@atelier/core/ProvisionerJobs")<ProvisionerJobs, ProvisionerJobsService>() {
  static readonly layer = service(ProvisionerJobs, make)
}
