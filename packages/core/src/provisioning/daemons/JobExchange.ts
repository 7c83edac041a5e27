/**
 * What the runner of a job and the daemon that works on it tell each other. To the runner the daemon is an opened source: it asks for the
 * definitions, the plan and the resources, and waits until the daemon has sent them. templates-and-provisioning.md §6.5, §8.3.
 */
import { Deferred, Effect, Option } from "effect"
import type { FileId } from "../files/File.js"
import type { Applied, LogSink, Phase, Plan, PlanInput, ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ParsedTemplate } from "../engines/SourceDefinitions.js"
import type { OpenSource } from "../engines/TemplateSources.js"
import type { Charge } from "../jobs/WorkspaceBuildJobs.js"
import type { TakenJob } from "../queue/JobQueueRepository.js"

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

/** The steps of one job. Each is told once. */
export interface JobExchange {
  /** The input of the plan, from the runner. */
  readonly input: Deferred.Deferred<PlanInput>
  /** The definitions of an import, from the daemon. */
  readonly parsed: Deferred.Deferred<ParsedTemplate, ProvisionFailure>
  /** The cost of a build, from the daemon. */
  readonly cost: Deferred.Deferred<number, ProvisionFailure>
  /** Done when the daemon may be told about the cost. */
  readonly judged: Deferred.Deferred<void>
  /** The runner's judgement of the cost; undefined for builds that are charged to no budget. */
  charge: Charge | undefined
  /** What the daemon has made. */
  readonly result: Deferred.Deferred<RemoteResult, ProvisionFailure>
  /** Done when the runner has ended the job. */
  readonly ended: Deferred.Deferred<void>
  /** Where the runner writes the daemon's log lines. */
  write: LogSink
}

/** Returns an exchange in which nothing has been told. */
export const makeExchange: Effect.Effect<JobExchange> = Effect.gen(function* () {
  return {
    input: yield* Deferred.make<PlanInput>(),
    parsed: yield* Deferred.make<ParsedTemplate, ProvisionFailure>(),
    cost: yield* Deferred.make<number, ProvisionFailure>(),
    judged: yield* Deferred.make<void>(),
    charge: undefined,
    result: yield* Deferred.make<RemoteResult, ProvisionFailure>(),
    ended: yield* Deferred.make<void>(),
    write: () => Effect.void
  }
})

/** Fails the steps that the daemon has not sent. */
export const settle = ({ cost, parsed, result }: JobExchange, failure: ProvisionFailure): Effect.Effect<void> =>
  Effect.all([Deferred.fail(parsed, failure), Deferred.fail(cost, failure), Deferred.fail(result, failure)], { discard: true })

/** Interrupts the runner where it waits for the daemon: the job is given back. */
export const abandon = ({ cost, parsed, result }: JobExchange): Effect.Effect<void> =>
  Effect.all([Deferred.interrupt(parsed), Deferred.interrupt(cost), Deferred.interrupt(result)], { discard: true })

/** Waits for a step of the runner; None if the job ends before. */
export const untilEnd = <A>({ ended }: JobExchange, step: Deferred.Deferred<A>): Effect.Effect<Option.Option<A>> =>
  Effect.raceFirst(Effect.asSome(Deferred.await(step)), Effect.as(Deferred.await(ended), Option.none<A>()))

const nothing: Omit<Plan, "daily_cost" | "resources"> = { parameters: [], presets: [], has_ai_task: false, has_external_agent: false }

const plan = (exchange: JobExchange, isBuild: boolean, asked: PlanInput): Effect.Effect<Plan, ProvisionFailure> =>
  Effect.gen(function* () {
    yield* Deferred.succeed(exchange.input, asked)
    if (isBuild) return { ...nothing, resources: [], daily_cost: yield* Deferred.await(exchange.cost) }
    const made = yield* Deferred.await(exchange.result)
    return asked.metadata.transition === "start" ? { ...made.plan, daily_cost: 0 } : { ...nothing, resources: made.stopped, daily_cost: 0 }
  })

/** The source of a job, as its runner sees it. */
export const sourceOf = (
  exchange: JobExchange,
  { type }: TakenJob,
  repeatableOfBuilds: ReadonlySet<Phase>,
  engine: string | undefined
): OpenSource => {
  const isBuild = type === "workspace_build"
  return {
    size: 0,
    engine,
    repeatable: isBuild ? repeatableOfBuilds : new Set(["parse", "plan"]),
    modules: Effect.map(Deferred.await(exchange.result), (made) => made.modules),
    // An owner who cannot afford the build is told by the daemon, which ends the job then
    charged: (judgement) =>
      Effect.gen(function* () {
        exchange.charge = judgement
        if (judgement.isAffordable) return
        yield* Deferred.succeed(exchange.judged, undefined)
        yield* Effect.exit(Deferred.await(exchange.result))
      }),
    // Its daemon ends the work: an interruption reaches it as a cancellation
    parse: Effect.uninterruptible(Deferred.await(exchange.parsed)),
    plan: (asked) => Effect.uninterruptible(plan(exchange, isBuild, asked)),
    apply: () =>
      Effect.uninterruptible(
        Effect.zipRight(
          Deferred.succeed(exchange.judged, undefined),
          Effect.map(Deferred.await(exchange.result), ({ applied }) => applied)
        )
      )
  }
}
