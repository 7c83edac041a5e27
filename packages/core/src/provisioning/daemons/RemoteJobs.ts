/** Jobs that daemons in other processes work on: the runner's engine is the daemon. templates-and-provisioning.md §6.5, §8.3. */
import { Clock, Context, Deferred, Duration, Effect, ExecutionStrategy, Exit, Option, Schedule, Scope } from "effect"
import { afterwards } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { LogSink, Phase, PlanInput, ProvisionerLog, ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ParsedTemplate, VariableValue } from "../engines/SourceDefinitions.js"
import { TemplateSources } from "../engines/TemplateSources.js"
import type { FileId } from "../files/File.js"
import { ModuleArchiveRepository } from "../files/ModuleArchiveRepository.js"
import { JobRunner } from "../jobs/JobRunner.js"
import type { Charge } from "../jobs/WorkspaceBuildJobs.js"
import { JobClaims } from "../queue/JobClaims.js"
import type { TakenJob } from "../queue/JobQueueRepository.js"
import { abandon, type JobExchange, makeExchange, type RemoteResult, settle, sourceOf, untilEnd } from "./JobExchange.js"

/** A daemon that reports nothing about a job for so long has lost it. §6.7. */
const silence = Duration.minutes(5)

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
  /** The names of its engines; undefined if it has not told them. */
  readonly engines: ReadonlySet<string> | undefined
}

/** The engine with which a daemon opens a source: the only one that it has, or the only one of those that the source is for. */
const engineOf = ({ engines }: Worker, able: ReadonlyArray<string> | undefined): string | undefined => {
  const fitting = [...(engines ?? [])].filter((name) => able?.includes(name) ?? true)
  return fitting.length === 1 ? fitting[0] : undefined
}

/** The methods of {@link RemoteJobs}. */
export interface RemoteJobsService {
  /** Begins a job that was taken: the runner's engine is the daemon. It is given back when the scope, that of the daemon's connection, closes. */
  readonly begin: (job: TakenJob, worker: Worker) => Effect.Effect<RemoteJob, never, Scope.Scope>
}

/** Ends the steps of a daemon that reports nothing for too long, until the job has ended. */
const watchSilence = (exchange: JobExchange, heardAt: () => number) =>
  Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) - heardAt() > Duration.toMillis(silence)) yield* abandon(exchange)
  }).pipe(
    Effect.repeat(Schedule.spaced("30 seconds")),
    Effect.raceFirst(Deferred.await(exchange.ended)),
    // The job is begun where nothing can be interrupted
    Effect.interruptible,
    afterwards,
    Effect.forkScoped
  )

const make = Effect.gen(function* () {
  const claims = yield* JobClaims
  const runner = yield* JobRunner
  const sources = yield* TemplateSources
  const modules = yield* ModuleArchiveRepository

  const begin = (job: TakenJob, worker: Worker): Effect.Effect<RemoteJob, never, Scope.Scope> =>
    Effect.gen(function* () {
      const { repeatable, work } = worker
      const exchange = yield* makeExchange
      const { cost, ended, input, judged, parsed, result } = exchange
      let heardAt = yield* Clock.currentTimeMillis
      let isCanceled = false

      const able = Option.getOrUndefined(sources.opinionOf(job.file_id))?.engines
      const source = sourceOf(exchange, job, repeatable, engineOf(worker, able))
      const open = (_: Uuid, log: LogSink) =>
        Effect.sync(() => {
          exchange.write = log
          return source
        })
      // One for each job, which ends with it: a connection lasts for thousands of jobs, and must not keep them
      const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      const over = Effect.sync(work.ended).pipe(
        Effect.zipRight(Deferred.succeed(ended, undefined)),
        Effect.zipRight(Scope.close(scope, Exit.void))
      )
      work.running += 1
      yield* Effect.forkDaemon(afterwards(Effect.ensuring(runner.run(job, open), over)))
      const leave = Effect.zipRight(abandon(exchange), Deferred.await(ended))
      // A daemon that goes leaves its job, which is given back before the connection counts as closed
      yield* Scope.addFinalizer(scope, leave)
      yield* Scope.extend(
        watchSilence(exchange, () => heardAt),
        scope
      )

      return {
        job,
        source: sources.read(job.file_id),
        modules: job.type === "workspace_build" ? modules.ofBuildJob(job.id) : Effect.succeedNone,
        input: untilEnd(exchange, input),
        heard: Effect.gen(function* () {
          heardAt = yield* Clock.currentTimeMillis
          isCanceled = (yield* claims.renew(job)).canceled
          return isCanceled
        }).pipe(
          Effect.catchTag("ClaimLost", () => Effect.succeed(true)),
          // The runner renews the claim too: a renewal that fails says nothing of the job, and must not end what the daemon tells of it
          Effect.catchAllDefect(() => Effect.sync(() => isCanceled))
        ),
        log: (log) => Effect.suspend(() => exchange.write(log)),
        parsed: (template) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(parsed, template)
            return Option.map(yield* untilEnd(exchange, input), ({ variables }) => variables)
          }),
        charge: (amount) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(cost, amount)
            const isOpen = Option.isSome(yield* untilEnd(exchange, judged))
            const unlimited: Charge = { isAffordable: true, cost: amount, consumed: 0, budget: -1 }
            const { isAffordable, ...judgement } = exchange.charge ?? unlimited
            return { ...judgement, isAffordable: isOpen && isAffordable }
          }),
        leave,
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
            if (isCanceled && failure.state === undefined) yield* abandon(exchange)
            else yield* settle(exchange, failure)
            yield* Deferred.await(ended)
          })
      } satisfies RemoteJob
    })

  return { begin }
})

export class RemoteJobs extends Context.Tag("@atelier/core/RemoteJobs")<RemoteJobs, RemoteJobsService>() {
  static readonly layer = standingOn(service(RemoteJobs, make), JobClaims.layer, JobRunner.layer, TemplateSources.layer)
}
