/** Says in the logs of jobs why they wait, where no daemon takes them. templates-and-provisioning.md §6.4. */
import { Duration, Effect, Option } from "effect"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction } from "../../platform/store/Transactor.js"
import { jobLogs } from "../jobs/JobEvents.js"
import { keepLogs } from "../logs/JobLog.js"
import { JobLogRepository } from "../logs/JobLogRepository.js"
import { JobQueueRepository } from "./JobQueueRepository.js"
import { daemonTimeout } from "../daemons/ProvisionerDaemon.js"
import { type ProvisionerJob, type ProvisionerJobId, jobStatus } from "../jobs/ProvisionerJob.js"
import { ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"

/** How long a job waits before its log says why. */
const patience = Duration.seconds(10)

/** How often waiting jobs are looked at. */
export const noticeInterval = Duration.seconds(5)

/** Jobs of one look; others have their turn in a later one. */
const batch = 50

const stage = "Waiting for a provisioner"

/** Adds a line to the log of a job that still waits and whose log is empty. */
const say = (id: ProvisionerJobId, output: string) =>
  transaction(
    Effect.gen(function* () {
      const job = Option.getOrUndefined(yield* (yield* ProvisionerJobRepository).lock(id))
      if (job === undefined || jobStatus(job) !== "pending" || job.logs_length > 0) return
      const row = { created_at: yield* Timestamp.now, log_source: "provisioner_daemon", log_level: "warn", stage, output } as const
      const kept = keepLogs([row], { length: 0, overflowed: false })
      const first = yield* (yield* JobLogRepository).append(id, kept.rows, kept.length, kept.overflowed)
      if (Option.isSome(first)) yield* publish(jobLogs(id), { created_after: first.value - 1 })
    })
  )

/** Jobs that have waited for a while without a word in their logs. */
const waiting = Effect.gen(function* () {
  const queue = yield* JobQueueRepository
  const repository = yield* ProvisionerJobRepository
  const ids = yield* queue.waitingSilently(Timestamp.minus(yield* Timestamp.now, patience), batch)
  return ids.length === 0 ? [] : yield* repository.byIds(ids)
})

const listed = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(", ")

/** Tells of jobs for whose tags no daemon is connected. */
export const unmatchedJobs = {
  name: "unmatched_jobs",
  every: noticeInterval,
  run: Effect.gen(function* () {
    const queue = yield* JobQueueRepository
    const jobs = yield* waiting
    if (jobs.length === 0) return
    const seenSince = Timestamp.minus(yield* Timestamp.now, daemonTimeout)
    const matched = yield* queue.matchedProvisioners(
      jobs.map(({ id }) => id),
      seenSince
    )
    const unmatched = new Set(matched.flatMap(({ available, job_id }) => (available === 0 ? [job_id] : [])))
    const untold = jobs.filter(({ id }) => unmatched.has(id))
    yield* Background.each("unmatched_jobs", untold, ({ id, tags }) =>
      say(id, `No provisioner daemon with the tags of this job is connected (${listed(tags)}). The job waits for one.`)
    )
  })
}

/** Tells of jobs that the engines of this process cannot run, where its daemons would be next. */
export const sayRefusals = (refusalOf: (job: ProvisionerJob) => Option.Option<string>) =>
  Effect.flatMap(waiting, (jobs) =>
    Background.each("provisioner_refusals", jobs, (job) =>
      Option.match(refusalOf(job), {
        onNone: () => Effect.void,
        onSome: (reason) => say(job.id, `${reason} The job waits for another daemon.`)
      })
    )
  )
