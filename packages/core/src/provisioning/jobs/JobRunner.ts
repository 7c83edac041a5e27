import { Cause, Clock, Context, Deferred, Duration, Effect, Exit, Fiber, Option, Schedule, Stream } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import type { ServiceError } from "../../platform/Errors.js"
import { EventBus, subscribe } from "../../platform/events/EventBus.js"
import * as Measure from "../../platform/Measure.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { afterwards, Transactor } from "../../platform/store/Transactor.js"
import { DryRunJobs } from "./DryRunJobs.js"
import { type ClaimLost, JobClaims } from "../queue/JobClaims.js"
import { jobCanceled } from "./JobEvents.js"
import { ModuleArchiveRepository } from "../files/ModuleArchiveRepository.js"
import type { JobTiming } from "./JobTiming.js"
import { type JobLogWriter, makeJobLogWriter } from "../logs/JobLogWriter.js"
import { type EngineTiming, type Phase, type Plan, ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ClaimedJob } from "./ProvisionerJobRepository.js"
import { TemplateImportJobs } from "./TemplateImportJobs.js"
import { TemplateSources } from "../engines/TemplateSources.js"
import { type BuildFailure, type Charge, chargeLines, quotaStage, WorkspaceBuildJobs } from "./WorkspaceBuildJobs.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"

/** How often a worker shows that it is alive. templates-and-provisioning.md §7.4. */
const heartbeat = Duration.seconds(1)

/** A worker that could not renew its claim for so long stops by itself, well before others may take the job. */
const lostAfter = Duration.seconds(8)

/** The same in a phase that must not run twice. */
const unrepeatableLostAfter = Duration.minutes(4)

const running = Measure.level("provisionerd_jobs_current", "Jobs that run.", ["provisioner"])

const jobSeconds = Measure.histogram(
  "provisionerd_job_timings_seconds",
  "How long jobs ran.",
  [1, 10, 30, 60, 300, 600, 1_800, 3_600],
  ["provisioner", "status"]
)

/** How often the end of a job is reported to a store that refuses it: over about three seconds. */
const persistence = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(5))

/** A store that is away is asked each second, for up to ten minutes. */
const patience = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("1 second")).pipe(Schedule.upTo("10 minutes"))

/** Work that succeeded: the writes for the transaction that completes the job, and the resources that exist even if it fails. */
interface Done {
  readonly store: Effect.Effect<void, ServiceError, EventBus | Transactor>
  readonly state?: Uint8Array | undefined
}

/** Why work is interrupted. */
type Stop = "canceled" | "lost" | "stopping"

/** How far one run of a job is. */
interface Run {
  /** Whether the job may be taken again if this run ends now. */
  repeatable: boolean
  /** Whether the server stops. */
  stopping: boolean
  /** The result to report, once it is known. */
  done?: Done
}

/** The stage that changes the world. templates-and-provisioning.md §6.6. */
const stages = { start: "Starting workspace", stop: "Stopping workspace", delete: "Destroying workspace" } as const

const storedTiming = ({ id }: ClaimedJob, { ended_at, started_at, ...part }: EngineTiming): JobTiming => ({
  ...part,
  job_id: id,
  started_at: Timestamp.fromMillis(started_at),
  ended_at: Timestamp.fromMillis(ended_at)
})

const isAway = (cause: Cause.Cause<unknown>): boolean => Option.isSome(storeUnavailable(cause))

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

  const asFailure = (error: ServiceError): ProvisionFailure =>
    new ProvisionFailure({ message: error._tag === "NotModified" ? "Nothing had to change." : error.message })

  /** Does the job's work. Interrupting it ends the steps it has begun; the results applied so far are in the run. */
  const work = (job: ClaimedJob, writer: JobLogWriter, run: Run, remote: TemplateSources["Type"]["open"] | undefined) =>
    Effect.gen(function* () {
      // A daemon in another process announces its stages itself
      const log = remote === undefined ? writer : { ...writer, announce: () => Effect.void }
      yield* log.announce("Setting up")
      const open = remote ?? sources.open
      const usesModules = remote === undefined && job.type === "workspace_build"
      const downloaded = usesModules ? yield* modules.ofBuildJob(job.id) : Option.none()
      const session = yield* open(job.file_id, log.write, Option.getOrUndefined(downloaded))
      const begin = (...phases: ReadonlyArray<Phase>) =>
        phases.every((phase) => session.repeatable.has(phase))
          ? Effect.void
          : Effect.map(claims.forbidRepeating(job), () => {
              run.repeatable = false
            })
      if (job.type === "template_version_dry_run") {
        yield* begin("plan")
        run.done = { store: yield* dryRuns.run(job, session, log.announce) }
        return
      }
      const { workspace_build_id: buildId } = job.input
      if (buildId === undefined) {
        yield* begin("parse", "plan")
        const store = (write: Effect.Effect<void>) => claims.store(job, write)
        const stored = yield* imports.run(job, session, { announce: log.announce, store })
        yield* log.announce("Cleaning Up")
        run.done = { store: stored }
        return
      }
      yield* begin("plan")
      const input = yield* Effect.mapError(builds.prepare(buildId), asFailure)
      yield* session.prepare?.(input) ?? Effect.void
      yield* log.announce("Planning Infrastructure")
      const timings: Array<JobTiming> = []
      const timed = <A extends Pick<Plan, "timings">, E>(stage: "plan" | "apply", step: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          const started_at = yield* Timestamp.now
          const result = yield* step
          const ended_at = yield* Timestamp.now
          for (const part of result.timings ?? []) timings.push(storedTiming(job, part))
          timings.push({ job_id: job.id, started_at, ended_at, stage, source: job.provisioner, action: stage, resource: "workspace" })
          return result
        })
      const plan = yield* timed("plan", session.plan(input))
      const charged = (charge: Charge) =>
        Effect.forEach(
          chargeLines(charge),
          (output) => log.write({ source: "provisioner_daemon", level: "info", stage: quotaStage, output }),
          { discard: true }
        )
      yield* builds.planned(buildId, plan, {
        announce: log.announce,
        charged: session.charged ?? charged,
        store: (write) => claims.store(job, write)
      })
      yield* begin("apply")
      yield* log.announce(stages[input.metadata.transition])
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.map(restore(timed("apply", session.apply(input))), (applied) => {
          run.done = { store: builds.succeeded(buildId, plan, applied, timings), state: applied.state }
        })
      )
      yield* log.announce("Cleaning Up")
    }).pipe(Effect.scoped)

  /**
   * Renews the claim each second, and reacts at once to a cancellation. Says when the work must stop, until the scope closes. Work that must not be
   * repeated goes on for longer while the store is unavailable, since its job is reaped later.
   */
  const watch = (job: ClaimedJob, run: Run, stop: (reason: Stop) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const cancellations = yield* subscribe(jobCanceled(job.id))
      let renewedAt = yield* Clock.currentTimeMillis
      const look = Effect.gen(function* () {
        const renewal = yield* Effect.exit(Effect.timeout(claims.renew(job), lostAfter))
        const now = yield* Clock.currentTimeMillis
        if (Exit.isSuccess(renewal)) {
          renewedAt = now
          if (renewal.value.canceled) yield* stop("canceled")
        } else {
          const isLost = Option.exists(Cause.failureOption(renewal.cause), (error) => error._tag === "ClaimLost")
          const limit = run.repeatable ? lostAfter : unrepeatableLostAfter
          if (isLost || now - renewedAt >= Duration.toMillis(limit)) yield* stop("lost")
        }
      })
      yield* startWatching(Stream.runForEach(cancellations, () => look))
      // The claim is new. A look at once would hold up the end of a short job, whose row it locks
      yield* startWatching(Effect.delay(look, heartbeat))
    })

  /** Reports again while the store fails; for long where it is away, unless the server stops. */
  const persist = <A, E, R>(run: Run, report: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    report.pipe(
      Effect.sandbox,
      Effect.retry({ schedule: persistence, while: (cause) => Cause.isDie(cause) && !isAway(cause) }),
      Effect.retry({ schedule: patience, while: (cause) => isAway(cause) && !run.stopping }),
      Effect.unsandbox
    )

  const fail = (job: ClaimedJob, run: Run, failure: BuildFailure) => persist(run, claims.fail(job, failure))

  const complete = (job: ClaimedJob, run: Run, { state, store }: Done) =>
    persist(run, claims.complete(job, store)).pipe(
      Effect.catchAllCause((cause) =>
        Effect.gen(function* () {
          const refusal = Option.getOrUndefined(Cause.failureOption(cause))
          if (refusal?._tag === "ClaimLost") return yield* refusal
          const away = Option.getOrUndefined(storeUnavailable(cause))
          // The lease ends, and another run makes the same again
          if (away !== undefined) return yield* Effect.die(away)
          if (refusal === undefined) yield* Effect.logError("the result of a job could not be stored", cause)
          const message = refusal === undefined ? "What the job made could not be stored." : asFailure(refusal).message
          yield* fail(job, run, { message, state })
        })
      )
    )

  /** The end of a job whose work ended without anything to store. */
  const abandon = (job: ClaimedJob, run: Run, cause: Cause.Cause<ProvisionFailure | ClaimLost>, stop: Stop | undefined) =>
    Effect.gen(function* () {
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      if (failure !== undefined) return yield* failure._tag === "ClaimLost" ? failure : fail(job, run, failure)
      if (stop === "canceled" && Cause.isInterruptedOnly(cause)) return yield* persist(run, claims.acknowledgeCancel(job))
      // Work that ends by itself without a result has lost its daemon
      if (Cause.isInterruptedOnly(cause) || isAway(cause)) {
        const reason = {
          repeatable: run.repeatable,
          cause: stop === "stopping" ? "stopping" : stop === undefined ? "daemon" : "store"
        } as const
        return yield* persist(run, claims.giveBack(job, reason))
      }
      yield* Effect.logError("a provisioner failed unexpectedly", cause)
      yield* fail(job, run, { message: "The provisioner failed unexpectedly; the server's log has the reason." })
    })

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
      yield* log.close
      if (Option.isNone(exit)) return yield* fail(job, run, { message: "The job did not end in time after it was canceled." })
      if (run.done !== undefined) return yield* complete(job, run, run.done)
      if (Exit.isFailure(exit.value)) yield* abandon(job, run, exit.value.cause, stop)
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
