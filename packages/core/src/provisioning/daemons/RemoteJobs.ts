/** Jobs that daemons in other processes work on: the runner's engine is the daemon. templates-and-provisioning.md §6.5, §8.3. */
import { Clock, Context, Deferred, Duration, Effect, Option, Schedule, type Scope } from "effect"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { afterwards } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { FileId } from "../files/File.js"
import { JobClaims } from "../queue/JobClaims.js"
import type { TakenJob } from "../queue/JobQueueRepository.js"
import { JobRunner } from "../jobs/JobRunner.js"
import { ModuleArchiveRepository } from "../files/ModuleArchiveRepository.js"
import {
  type Applied,
  type LogSink,
  type Phase,
  type Plan,
  type PlanInput,
  type ProvisionerLog,
  ProvisionFailure
} from "../engines/ProvisionerEngine.js"
import type { ParsedTemplate, VariableValue } from "../engines/SourceDefinitions.js"
import { type OpenSource, TemplateSources } from "../engines/TemplateSources.js"
import type { Charge } from "../jobs/WorkspaceBuildJobs.js"

/** A daemon that reports nothing about a job for so long has lost it. §6.7. */
const silence = Duration.minutes(5)

/** What a daemon has made of a job. */
export interface RemoteResult {
  /** Of a start, or of the build. */
  readonly plan: Omit<Plan, "daily_cost">
  /** The resources of a stop, which an import plans too. */
  readonly stopped: Plan["resources"]
  readonly applied: Applied
  /** The stored archive of the modules that an import has downloaded. */
  readonly modules: Option.Option<FileId>
}

/** A job that a daemon in another process works on. */
export interface RemoteJob {
  readonly job: TakenJob
  /** The template's archive, a tar. */
  readonly source: Effect.Effect<Uint8Array, ProvisionFailure>
  /** The archive of the modules that a build need not download. */
  readonly modules: Effect.Effect<Option.Option<FileId>>
  /** The input of the plan; None if the job ended before. It exists at once for builds and dry runs, and for imports once their variables have values. */
  readonly input: Effect.Effect<Option.Option<PlanInput>>
  /** Notes a sign of life. Returns whether the daemon must end the job: it was canceled, or another daemon took it. */
  readonly heard: Effect.Effect<boolean>
  readonly log: (log: ProvisionerLog) => Effect.Effect<void>
  /** Reports the definitions of an import. Returns the values of its variables; None if the import ended for want of them. */
  readonly parsed: (template: ParsedTemplate) => Effect.Effect<Option.Option<ReadonlyArray<VariableValue>>>
  /** Reports the cost of a build. Returns whether its owner can afford it; the daemon must end the build otherwise. */
  readonly charge: (cost: number) => Effect.Effect<Charge>
  /** Ends the job with what it made. Returns false if it had ended before. */
  readonly complete: (result: RemoteResult) => Effect.Effect<boolean>
  readonly fail: (failure: ProvisionFailure) => Effect.Effect<void>
  /** Gives the job back. */
  readonly leave: Effect.Effect<void>
}

/** The jobs that a daemon works on. */
export interface DaemonWork {
  running: number
  /** Notes that one of them has ended. */
  readonly ended: () => void
}

/** What of a daemon its jobs depend on. */
interface Worker {
  readonly work: DaemonWork
  /** Phases of its builds that another daemon may begin again. */
  readonly repeatable: ReadonlySet<Phase>
}

const nothing: Omit<Plan, "daily_cost" | "resources"> = { parameters: [], presets: [], has_ai_task: false, has_external_agent: false }

/** The methods of {@link RemoteJobs}. */
export interface RemoteJobsService {
  /** Begins a job that was taken: the runner's engine is the daemon. */
  readonly begin: (job: TakenJob, worker: Worker) => Effect.Effect<RemoteJob, never, Scope.Scope>
}

const make = Effect.gen(function* () {
  const claims = yield* JobClaims
  const runner = yield* JobRunner
  const sources = yield* TemplateSources
  const modules = yield* ModuleArchiveRepository

  const begin = (job: TakenJob, { repeatable: ofBuilds, work }: Worker): Effect.Effect<RemoteJob, never, Scope.Scope> =>
    Effect.gen(function* () {
      const input = yield* Deferred.make<PlanInput>()
      const parsed = yield* Deferred.make<ParsedTemplate, ProvisionFailure>()
      const cost = yield* Deferred.make<number, ProvisionFailure>()
      /** Whether the daemon may be told about the cost. */
      const judged = yield* Deferred.make<void>()
      let charge: Charge | undefined
      const result = yield* Deferred.make<RemoteResult, ProvisionFailure>()
      const ended = yield* Deferred.make<void>()
      let write: LogSink = () => Effect.void
      let heardAt = yield* Clock.currentTimeMillis
      let isCanceled = false

      const isBuild = job.type === "workspace_build"
      const repeatable: ReadonlySet<Phase> = isBuild ? ofBuilds : new Set(["parse", "plan"])
      const plan = (asked: PlanInput) =>
        Effect.gen(function* () {
          yield* Deferred.succeed(input, asked)
          if (isBuild) return { ...nothing, resources: [], daily_cost: yield* Deferred.await(cost) }
          const made = yield* Deferred.await(result)
          return asked.metadata.transition === "start"
            ? { ...made.plan, daily_cost: 0 }
            : { ...nothing, resources: made.stopped, daily_cost: 0 }
        })
      const session: OpenSource = {
        size: 0,
        repeatable,
        modules: Effect.map(Deferred.await(result), (made) => made.modules),
        // An owner who cannot afford the build is told by the daemon, which ends the job then
        charged: (judgement) =>
          Effect.gen(function* () {
            charge = judgement
            if (judgement.isAffordable) return
            yield* Deferred.succeed(judged, undefined)
            yield* Effect.exit(Deferred.await(result))
          }),
        // Its daemon ends the work: an interruption reaches it as a cancellation
        parse: Effect.uninterruptible(Deferred.await(parsed)),
        plan: (asked) => Effect.uninterruptible(plan(asked)),
        apply: () =>
          Effect.uninterruptible(
            Effect.zipRight(
              Deferred.succeed(judged, undefined),
              Effect.map(Deferred.await(result), ({ applied }) => applied)
            )
          )
      }
      const open = (_: Uuid, log: LogSink) =>
        Effect.sync(() => {
          write = log
          return session
        })
      const settle = (failure: ProvisionFailure) =>
        Effect.all([Deferred.fail(parsed, failure), Deferred.fail(cost, failure), Deferred.fail(result, failure)], { discard: true })
      const abandon = Effect.all([Deferred.interrupt(parsed), Deferred.interrupt(cost), Deferred.interrupt(result)], {
        discard: true
      })

      work.running += 1
      yield* Effect.ensuring(runner.run(job, open), Effect.zipRight(Effect.sync(work.ended), Deferred.succeed(ended, undefined))).pipe(
        afterwards,
        Effect.forkDaemon
      )
      // A daemon that goes leaves its job, which is given back before the connection counts as closed
      yield* Effect.addFinalizer(() => Effect.zipRight(abandon, Deferred.await(ended)))
      yield* Effect.gen(function* () {
        if ((yield* Clock.currentTimeMillis) - heardAt > Duration.toMillis(silence)) yield* abandon
      }).pipe(
        Effect.repeat(Schedule.spaced("30 seconds")),
        Effect.raceFirst(Deferred.await(ended)),
        // The job is begun where nothing can be interrupted
        Effect.interruptible,
        afterwards,
        Effect.forkScoped
      )

      const untilEnd = <A>(other: Effect.Effect<A>): Effect.Effect<Option.Option<A>> =>
        Effect.raceFirst(Effect.asSome(other), Effect.as(Deferred.await(ended), Option.none<A>()))
      return {
        job,
        source: sources.read(job.file_id),
        modules: isBuild ? modules.ofBuildJob(job.id) : Effect.succeedNone,
        input: untilEnd(Deferred.await(input)),
        heard: Effect.gen(function* () {
          heardAt = yield* Clock.currentTimeMillis
          isCanceled = (yield* claims.renew(job)).canceled
          return isCanceled
        }).pipe(Effect.catchTag("ClaimLost", () => Effect.succeed(true))),
        log: (log) => Effect.suspend(() => write(log)),
        parsed: (template) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(parsed, template)
            return Option.map(yield* untilEnd(Deferred.await(input)), ({ variables }) => variables)
          }),
        charge: (amount) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(cost, amount)
            const isOpen = Option.isSome(yield* untilEnd(Deferred.await(judged)))
            const unlimited: Charge = { isAffordable: true, cost: amount, consumed: 0, budget: -1 }
            const { isAffordable, ...judgement } = charge ?? unlimited
            return { ...judgement, isAffordable: isOpen && isAffordable }
          }),
        leave: Effect.zipRight(abandon, Deferred.await(ended)),
        complete: (made) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(parsed, { variables: [], readme: "", workspace_tags: {} })
            yield* Deferred.succeed(cost, 0)
            const isFirst = yield* Deferred.succeed(result, made)
            yield* Deferred.await(ended)
            return isFirst
          }),
        fail: (failure) =>
          Effect.gen(function* () {
            // A canceled job ends as canceled, unless something is left behind
            if (isCanceled && failure.state === undefined) yield* abandon
            else yield* settle(failure)
            yield* Deferred.await(ended)
          })
      } satisfies RemoteJob
    })

  return { begin }
})

export class RemoteJobs extends Context.Tag("@atelier/core/RemoteJobs")<RemoteJobs, RemoteJobsService>() {
  static readonly layer = standingOn(service(RemoteJobs, make), JobClaims.layer, JobRunner.layer, TemplateSources.layer)
}
