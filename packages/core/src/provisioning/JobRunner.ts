import { Cause, Clock, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Schedule, Stream } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import type { ServiceError } from "../platform/Errors.js"
import { EventBus, subscribe } from "../platform/EventBus.js"
import type { Transactor } from "../platform/Transactor.js"
import { type ClaimLost, JobClaims } from "./JobClaims.js"
import { jobCanceled } from "./JobEvents.js"
import { type JobLogWriter, makeJobLogWriter } from "./JobLogWriter.js"
import { ProvisionFailure } from "./ProvisionerEngine.js"
import type { ClaimedJob } from "./ProvisionerJobRepository.js"
import { TemplateImportJobs } from "./TemplateImportJobs.js"
import { TemplateSources } from "./TemplateSources.js"
import { type BuildFailure, WorkspaceBuildJobs } from "./WorkspaceBuildJobs.js"

/** How often a worker shows that it is alive. §7.4. */
const heartbeat = Duration.seconds(1)

/** A worker that could not renew its claim for so long stops by itself, well before others may take the job. */
const lostAfter = Duration.seconds(8)

/** How often the end of a job is reported to a store that fails: over about three seconds. */
const persistence = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(5))

/** Work that succeeded: what is to be stored in the transaction that completes the job, and what exists if that fails. */
interface Done {
  readonly store: Effect.Effect<void, ServiceError, EventBus | Transactor>
  readonly state?: Uint8Array | undefined
}

/** Why work is interrupted. */
type Stop = "canceled" | "lost" | "stopping"

/** The stage that changes the world. §6.6. */
const stages = { start: "Starting workspace", stop: "Stopping workspace", delete: "Destroying workspace" } as const

const make = Effect.gen(function* () {
  const claims = yield* JobClaims
  const sources = yield* TemplateSources
  const imports = yield* TemplateImportJobs
  const builds = yield* WorkspaceBuildJobs
  const context = yield* Effect.context<EventBus | Transactor>()

  const asFailure = (error: ServiceError): ProvisionFailure =>
    new ProvisionFailure({ message: error._tag === "NotModified" ? "Nothing had to change." : error.message })

  /** Does what the job asks for. Interrupting it ends what it has begun; what was applied by then is handed to `made`. */
  const work = (job: ClaimedJob, log: JobLogWriter, made: (done: Done) => void) =>
    Effect.gen(function* () {
      yield* log.announce("Setting up")
      const session = yield* sources.open(job.file_id, log.write)
      const { workspace_build_id: buildId } = job.input
      if (buildId === undefined) {
        const store = (write: Effect.Effect<void>) => claims.store(job, write)
        return made({ store: yield* imports.run(job, session, { announce: log.announce, store }) })
      }
      const input = yield* Effect.mapError(builds.prepare(buildId), asFailure)
      yield* log.announce("Planning Infrastructure")
      const plan = yield* session.plan(input)
      yield* builds.planned(buildId, plan, { announce: log.announce, write: log.write, store: (write) => claims.store(job, write) })
      yield* claims.startApplying(job)
      yield* log.announce(stages[input.metadata.transition])
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.map(restore(session.apply(input)), (applied) =>
          made({ store: builds.succeeded(buildId, plan, applied), state: applied.state })
        )
      )
    }).pipe(Effect.scoped)

  /** Renews the claim each second, and looks at once when somebody cancels. Says when the work has to stop; never ends. */
  const watch = (job: ClaimedJob, stop: (reason: Stop) => Effect.Effect<unknown>) =>
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
          if (isLost || now - renewedAt >= Duration.toMillis(lostAfter)) yield* stop("lost")
        }
      })
      yield* Effect.forkScoped(Stream.runForEach(cancellations, () => look))
      yield* Effect.repeat(look, Schedule.spaced(heartbeat))
    }).pipe(Effect.scoped)

  /** Reports again while the store fails. */
  const persist = <A, E, R>(report: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    report.pipe(Effect.sandbox, Effect.retry({ schedule: persistence, while: Cause.isDie }), Effect.unsandbox)

  const fail = (job: ClaimedJob, failure: BuildFailure) => persist(claims.fail(job, failure))

  const complete = (job: ClaimedJob, { state, store }: Done) =>
    persist(claims.complete(job, store)).pipe(
      Effect.catchAllCause((cause) =>
        Effect.gen(function* () {
          const refusal = Option.getOrUndefined(Cause.failureOption(cause))
          if (refusal?._tag === "ClaimLost") return yield* refusal
          if (refusal === undefined) yield* Effect.logError("what a job made could not be stored", cause)
          const message = refusal === undefined ? "What the job made could not be stored." : asFailure(refusal).message
          yield* fail(job, { message, state })
        })
      )
    )

  /** The end of a job whose work ended without anything to store. */
  const abandon = (job: ClaimedJob, cause: Cause.Cause<ProvisionFailure | ClaimLost>, stop: Stop | undefined) =>
    Effect.gen(function* () {
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      if (failure !== undefined) return yield* failure._tag === "ClaimLost" ? failure : fail(job, failure)
      if (stop !== undefined && Cause.isInterruptedOnly(cause)) {
        return yield* persist(stop === "canceled" ? claims.acknowledgeCancel(job) : claims.giveBack(job))
      }
      yield* Effect.logError("a provisioner failed unexpectedly", cause)
      yield* fail(job, { message: "The provisioner failed unexpectedly; the server's log has the reason." })
    })

  /** Works on a job until it ends, is canceled or lost, or `stopping` ends; then ends the work and reports. */
  const supervise = (job: ClaimedJob, stopping: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const { provisioner } = yield* DeploymentOptions
      const log = yield* makeJobLogWriter({
        store: (rows) => persist(claims.log(job, rows)),
        keepsDetails: job.input.log_level === "debug"
      })
      const reason = yield* Deferred.make<Stop>()
      yield* Effect.forkScoped(watch(job, (stop) => Deferred.succeed(reason, stop)))
      yield* Effect.forkScoped(Effect.zipRight(stopping, Deferred.succeed(reason, "stopping")))

      let done: Done | undefined
      // Not a child of this fiber: an engine that does not end must not keep the job from ending
      const worker = yield* Effect.forkDaemon(
        work(job, log, (made) => {
          done = made
        })
      )
      const stop = yield* Effect.raceFirst(Effect.as(Fiber.await(worker), undefined), Deferred.await(reason))
      if (stop !== undefined) yield* Fiber.interruptFork(worker)
      const exit = yield* Effect.timeoutOption(Fiber.await(worker), provisioner.force_cancel_interval)
      yield* log.close
      if (Option.isNone(exit)) return yield* fail(job, { message: "The job did not end in time after it was canceled." })
      if (done !== undefined) return yield* complete(job, done)
      if (Exit.isFailure(exit.value)) yield* abandon(job, exit.value.cause, stop)
    }).pipe(
      Effect.scoped,
      Effect.catchTag("ClaimLost", () => Effect.logWarning("a job was taken away from this server")),
      Effect.catchAllCause((cause) => Effect.logError("the end of a job could not be stored", cause)),
      Effect.annotateLogs({ job: job.id, type: job.type })
    )

  return {
    /**
     * Runs an acquired job to its end, whatever that is; never fails. When it is interrupted, the work is ended first and the job given
     * back. templates-and-provisioning.md §6.5, §6.8, §6.9, §7.4.
     */
    run: (job: ClaimedJob): Effect.Effect<void> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const stopping = yield* Deferred.make<void>()
          // In a fiber of its own, which nobody interrupts, so that it can wait for what it has to end
          const fiber = yield* Effect.forkDaemon(Effect.interruptible(supervise(job, Deferred.await(stopping))))
          const ended = Fiber.await(fiber)
          yield* Effect.onInterrupt(restore(ended), () => Effect.zipRight(Deferred.succeed(stopping, undefined), ended))
        })
      ).pipe(Effect.provide(context))
  }
})

/** Runs one job with the engines of this process. */
export class JobRunner extends Context.Tag("@atelier/core/JobRunner")<JobRunner, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(JobRunner, make)
}
