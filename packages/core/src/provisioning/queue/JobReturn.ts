import { Duration, Effect, Option } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction, transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { JobLogRepository } from "../logs/JobLogRepository.js"
import type { JobQueueRepository } from "./JobQueueRepository.js"
import type { ClaimedJob, ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { JobEnding } from "./JobEnding.js"
import { leaseDuration, takenAfter } from "./JobTaking.js"
import type { ReturnReason } from "./JobClaims.js"

/**
 * How long a job in a phase that must not run twice is left alone after its lease: its worker may only have lost the store, and another
 * build must not start beside it. The worker stops before.
 */
export const unrepeatableGrace = Duration.minutes(5)

/** How often a job is taken again after its server was lost: one whose servers die each time is given up. */
export const maximumRepetitions = 3

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

interface Needs extends Pick<JobEnding, "held" | "endUnsuccessfully" | "requeue" | "told"> {
  readonly queue: JobQueueRepository["Type"]
  readonly repository: ProvisionerJobRepository["Type"]
  readonly logs: JobLogRepository["Type"]
}

/** What becomes of jobs whose worker has gone: repeated, or ended. */
export const jobReturn = ({ held, endUnsuccessfully, queue, requeue, told, repository, logs }: Needs) => ({
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
        const mayBeRunning = job.unrepeatable && job.canceled_at === null && job.lease_expires_at > Timestamp.minus(now, unrepeatableGrace)
        // The job may have been taken again since its server was found dead
        const renewedAt = Timestamp.minus(job.lease_expires_at, leaseDuration)
        const isLost =
          deadClaim === undefined
            ? job.lease_expires_at <= now
            : job.claim_id === deadClaim && renewedAt <= Timestamp.minus(now, takenAfter)
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
})
