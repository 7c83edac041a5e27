import { Data, Effect, Option } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish } from "../../platform/store/Transactor.js"
import { jobLogs, jobPosted } from "../jobs/JobEvents.js"
import { keepLogs } from "../logs/JobLog.js"
import type { JobLogRepository } from "../logs/JobLogRepository.js"
import { type JobEvent, type JobProgress, jobStatus, progress } from "../jobs/ProvisionerJob.js"
import type { ClaimedJob, ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"
import type { BuildFailure, WorkspaceBuildJobs } from "../jobs/WorkspaceBuildJobs.js"

/** Another worker has the job, or the job has ended: the work must stop, and its reports no longer count. */
export class ClaimLost extends Data.TaggedError("ClaimLost")<{}> {}

export const changeOf = (job: ClaimedJob, event: JobEvent, now: Timestamp.Timestamp, error?: string): Effect.Effect<JobProgress> => {
  const change = progress(job, event, now, error === "" ? undefined : error)
  return change === undefined ? Effect.dieMessage(`A ${jobStatus(job)} job does not ${event}`) : Effect.succeed(change)
}

interface Needs {
  readonly repository: ProvisionerJobRepository["Type"]
  readonly builds: WorkspaceBuildJobs["Type"]
  readonly logs: JobLogRepository["Type"]
}

/** How a claimed job ends or returns to the queue, and who hears of it. */
export const jobEnding = ({ repository, builds, logs }: Needs) => {
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

  return { held, release, endUnsuccessfully, requeue, told }
}

/** The result of {@link jobEnding}. */
export type JobEnding = ReturnType<typeof jobEnding>
