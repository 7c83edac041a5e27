import { Cause, Clock, Context, Deferred, Duration, Effect, Exit, Fiber, Option, Stream } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { EventBus, subscribe } from "../../platform/events/EventBus.js"
import * as Measure from "../../platform/Measure.js"
import { afterwards, Transactor } from "../../platform/store/Transactor.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
import { DryRunJobs } from "./DryRunJobs.js"
import { JobClaims } from "../queue/JobClaims.js"
import { lostAfter } from "../queue/JobTaking.js"
import { jobCanceled } from "./JobEvents.js"
import { ModuleArchiveRepository } from "../files/ModuleArchiveRepository.js"
import { makeJobLogWriter } from "../logs/JobLogWriter.js"
import type { ClaimedJob } from "./ProvisionerJobRepository.js"
import { TemplateImportJobs } from "./TemplateImportJobs.js"
import { TemplateSources } from "../engines/TemplateSources.js"
import { WorkspaceBuildJobs } from "./WorkspaceBuildJobs.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Run, Stop } from "./JobRun.js"
import { persist, jobReports } from "./JobReports.js"
import { jobWork } from "./JobWork.js"

/** How often a worker shows that it is alive. templates-and-provisioning.md §7.4. */
const heartbeat = Duration.seconds(1)

/** How long a worker goes on without a renewal in a phase that must not run twice. Others leave its job alone for longer. */
const unrepeatableLostAfter = Duration.minutes(4)

/** How long one renewal may take. */
const renewalLimit = Duration.seconds(8)

const running = Measure.level("provisionerd_jobs_current", "Jobs that run.", ["provisioner"])

const jobSeconds = Measure.histogram(
  "provisionerd_job_timings_seconds",
  "How long jobs ran.",
  [1, 10, 30, 60, 300, 600, 1_800, 3_600],
  ["provisioner", "status"]
)

const startWatching = Background.repeating("job_claim")

/** The methods of {@link JobRunner}. */
export interface JobRunnerService {
  /**
   * Runs an acquired job to its end, whatever that is; never fails. When it is interrupted, also in a caller that is uninterruptible, the
   * work is ended first and the job given back. A daemon in another process is given as what opens the source.
   * templates-and-provisioning.md §6.5, §6.8, §6.9, §7.4.
   */
  readonly run: (job: ClaimedJob, remote?: TemplateSources["Type"]["open"]) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const claims = yield* JobClaims
  const sources = yield* TemplateSources
  const imports = yield* TemplateImportJobs
  const dryRuns = yield* DryRunJobs
  const builds = yield* WorkspaceBuildJobs
  const modules = yield* ModuleArchiveRepository
  // No more than these: with each service that a job adds while it runs, Effect copies those that it has
  const context = Context.pick(EventBus, Transactor)(yield* Effect.context<EventBus | Transactor>())

  /**
   * Renews the claim each second, and reacts at once to a cancellation. Says when the work must stop, until the scope closes. Work that must not be
   * repeated goes on for longer while the store is unavailable, since its job is reaped later.
   */
  const watch = (job: ClaimedJob, run: Run, stop: (reason: Stop) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const cancellations = yield* subscribe(jobCanceled(job.id))
      // By time that only goes forward: a clock that jumps ahead says nothing of the others' view of the lease
      let renewedAt = yield* Monotonic.now
      const look = Effect.gen(function* () {
        const begun = yield* Monotonic.now
        const limit = Duration.toMillis(run.repeatable ? lostAfter : unrepeatableLostAfter)
        // A renewal that is not answered must not keep the work from its end: others take the job then. The time alone would wait for a statement
        const rest = Math.max(0, Math.min(Duration.toMillis(renewalLimit), renewedAt + limit - begun))
        const renewal = yield* Effect.exit(Effect.timeout(Effect.disconnect(claims.renew(job)), rest))
        if (Exit.isSuccess(renewal)) {
          // The lease was stored with a time before the answer
          renewedAt = begun
          if (renewal.value.canceled) yield* stop("canceled")
        } else {
          const isLost = Option.exists(Cause.failureOption(renewal.cause), (error) => error._tag === "ClaimLost")
          if (isLost || (yield* Monotonic.now) - renewedAt >= limit) yield* stop("lost")
        }
      })
      yield* startWatching(Stream.runForEach(cancellations, () => look))
      // The claim is new. A look at once would hold up the end of a short job, whose row it locks
      yield* startWatching(Effect.delay(look, heartbeat))
    })

  const { work } = jobWork({ sources, modules, claims, dryRuns, imports, builds })

  const reports = jobReports({ claims })

  /** Works on a job until it ends, is canceled or lost, or `stopping` ends; then ends the work and reports. */
  const supervise = (job: ClaimedJob, stopping: Effect.Effect<void>, remote: TemplateSources["Type"]["open"] | undefined) =>
    Effect.gen(function* () {
      const { provisionerForceCancelInterval } = yield* DeploymentOptions
      const run: Run = { repeatable: true, stopping: false }
      const begun = yield* Clock.currentTimeMillis
      running(job.provisioner).update(1)
      yield* Effect.addFinalizer(() =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          running(job.provisioner).update(-1)
          jobSeconds(job.provisioner, run.done === undefined ? "failed" : "success").update((now - begun) / 1000)
        })
      )
      const log = yield* makeJobLogWriter({
        store: (rows) => persist(run, claims.log(job, rows)),
        keepsDetails: job.input.log_level === "debug"
      })
      const reason = yield* Deferred.make<Stop>()
      yield* watch(job, run, (stop) => Deferred.succeed(reason, stop))
      yield* Effect.flatMap(stopping, () => {
        run.stopping = true
        return Deferred.succeed(reason, "stopping")
      }).pipe(afterwards, Effect.forkScoped)

      // Not a child of this fiber: an engine that does not end must not keep the job from ending
      const worker = yield* Effect.forkDaemon(afterwards(work(job, log, run, remote)))
      const stop = yield* Effect.raceFirst(Effect.as(Fiber.await(worker), undefined), Deferred.await(reason))
      if (stop !== undefined) yield* Fiber.interruptFork(worker)
      const exit = yield* Effect.timeoutOption(Fiber.await(worker), provisionerForceCancelInterval)
      const lastRows = yield* log.close
      if (Option.isSome(exit) && run.done !== undefined) return yield* reports.complete(job, run, run.done, lastRows)
      yield* reports.log(job, run, lastRows)
      if (Option.isNone(exit)) return yield* reports.fail(job, run, { message: "The job did not end in time after it was canceled." })
      if (Exit.isFailure(exit.value)) yield* reports.abandon(job, run, exit.value.cause, stop)
    }).pipe(
      Effect.scoped,
      Effect.catchTag("ClaimLost", () => Effect.logWarning("a job was taken away from this server")),
      Effect.catchAllCause((cause) => Effect.logError("the end of a job could not be stored", cause)),
      Effect.annotateLogs({ job: job.id, type: job.type }),
      Effect.withSpan("provisioner.job", { root: true, attributes: { job: job.id, type: job.type, provisioner: job.provisioner } })
    )

  return {
    run: (job: ClaimedJob, remote?: TemplateSources["Type"]["open"]): Effect.Effect<void> =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const stopping = yield* Deferred.make<void>()
          // In a fiber of its own that is not interrupted, so that it can wait for the work that it ends
          const fiber = yield* Effect.forkDaemon(afterwards(Effect.interruptible(supervise(job, Deferred.await(stopping), remote))))
          const ended = Fiber.await(fiber)
          yield* Effect.onInterrupt(Effect.interruptible(ended), () => Effect.zipRight(Deferred.succeed(stopping, undefined), ended))
        })
      ).pipe(Effect.provide(context))
  }
})

/** Runs one job with the engines of this process. */
export class JobRunner extends Context.Tag("@atelier/core/JobRunner")<JobRunner, JobRunnerService>() {
  // The area brings the sources: tests run jobs of sources of their own
  static readonly layer = standingOn(service(JobRunner, make), JobClaims.layer)
}
