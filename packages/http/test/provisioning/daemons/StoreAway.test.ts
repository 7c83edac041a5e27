import { StoreUnavailable } from "@atelier/core/platform"
import {
  DryRunJobs,
  JobClaims,
  JobRunner,
  jobStatus,
  type Phase,
  JobQueueRepository,
  ProvisionerJobRepository,
  TemplateImportJobs,
  TemplateSources,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { sqlite } from "../../../../../test/store/databases.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../../test/records/jobs.js"
import { runtime } from "../../../../../test/store/services.js"
import { aClockToSetBack } from "../../../../../test/store/time.js"

/** What a test sets, and what it sees of the work. */
class Stage extends Context.Tag("Stage")<
  Stage,
  {
    readonly isAway: Ref.Ref<boolean>
    /** The store answers renewals when this is completed: they cannot be interrupted, as no statement can be. */
    readonly answers: Ref.Ref<Deferred.Deferred<void>>
    readonly repeatable: Ref.Ref<ReadonlySet<Phase>>
    /** The engine plans until this is completed. */
    readonly planned: Ref.Ref<Deferred.Deferred<void>>
    readonly interruptions: Ref.Ref<number>
  }
>() {
  static readonly layer = Layer.effect(
    Stage,
    Effect.all({
      isAway: Ref.make(false),
      answers: Effect.flatMap(
        Effect.tap(Deferred.make<void>(), (answers) => Deferred.succeed(answers, undefined)),
        Ref.make
      ),
      repeatable: Ref.make<ReadonlySet<Phase>>(new Set()),
      planned: Effect.flatMap(Deferred.make<void>(), Ref.make),
      interruptions: Ref.make(0)
    })
  )
}

const builds = Layer.succeed(WorkspaceBuildJobs, noBuildJobs)

const imports = Layer.succeed(TemplateImportJobs, { run: (_, session) => Effect.as(session.parse, Effect.void) })

const dryRuns = Layer.succeed(DryRunJobs, { run: () => Effect.dieMessage("no dry runs here") })

const sources = Layer.effect(
  TemplateSources,
  Effect.map(Stage, ({ interruptions, planned, repeatable }) => ({
    opinionOf: () => Option.none(),
    judge: () => Effect.dieMessage("no daemons of a server here"),
    read: () => Effect.dieMessage("no daemons in other processes here"),
    openVersion: () => Effect.dieMessage("no forms here"),
    open: () =>
      Effect.map(Ref.get(repeatable), (phases) => ({
        repeatable: phases,
        size: 0,
        engine: undefined,
        modules: Effect.succeedNone,
        parse: Effect.flatMap(Ref.get(planned), Deferred.await).pipe(
          Effect.as({ variables: [], readme: "", workspace_tags: {} }),
          Effect.onInterrupt(() => Ref.update(interruptions, (count) => count + 1))
        ),
        plan: () => Effect.dieMessage("not planned here"),
        apply: () => Effect.dieMessage("not applied here")
      }))
  }))
)

/** The store, which does not answer while it is away. */
const store = Layer.effectContext(
  Effect.gen(function* () {
    const stage = yield* Stage
    const repository = yield* ProvisionerJobRepository
    const queue = yield* JobQueueRepository
    const unlessAway = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
      Effect.flatMap(Ref.get(stage.isAway), (isAway) =>
        isAway ? Effect.die(new StoreUnavailable({ reason: "away", cause: "a test" })) : effect
      )
    return Context.make(ProvisionerJobRepository, { ...repository, lock: (id) => unlessAway(repository.lock(id)) }).pipe(
      Context.add(JobQueueRepository, {
        ...queue,
        renew: (id, claimId, now, until) =>
          Effect.zipRight(
            Effect.uninterruptible(Effect.flatMap(Ref.get(stage.answers), Deferred.await)),
            unlessAway(queue.renew(id, claimId, now, until))
          )
      })
    )
  })
)

const services = JobRunner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JobClaims.layer, dryRuns, imports, sources)),
  Layer.provideMerge(builds),
  Layer.provideMerge(store),
  Layer.provideMerge(Stage.layer),
  Layer.provideMerge(sqlite),
  Layer.provideMerge(runtime)
)

layer(services)("a job whose store is away", (it) => {
  /** A job of an engine that may run these phases again, and its work. */
  const aRun = (phases: ReadonlyArray<Phase>) =>
    Effect.gen(function* () {
      const { interruptions, planned, repeatable } = yield* Stage
      yield* Ref.set(repeatable, new Set(phases))
      yield* Ref.set(planned, yield* Deferred.make<void>())
      yield* Ref.set(interruptions, 0)
      const organization_id = yield* aFreshOrganization
      const daemon = yield* aDaemon({ organization_id })
      const { id } = yield* aWaitingJob({ organization_id })
      const start = Effect.gen(function* () {
        const job = yield* Effect.flatten((yield* JobClaims).take(daemon))
        return yield* Effect.fork((yield* JobRunner).run(job))
      })
      const status = Effect.map(
        Effect.flatMap(ProvisionerJobRepository, ({ byId }) => Effect.flatten(byId(id))),
        jobStatus
      )
      const plan = Effect.flatMap(Ref.get(planned), (deferred) => Deferred.succeed(deferred, undefined))
      return { start, status, plan, interruptions: Ref.get(interruptions) }
    })

  const away = (isAway: boolean) => Effect.flatMap(Stage, (stage) => Ref.set(stage.isAway, isAway))
  /** Time passes second by second, so that each renewal is due. */
  const pass = (seconds: number) => Effect.replicateEffect(TestClock.adjust("1 second"), seconds)

  it.effect("stops, waits for the store and is taken again if it may be repeated", () =>
    Effect.gen(function* () {
      const run = yield* aRun(["parse", "plan", "apply"])
      const first = yield* run.start
      yield* pass(2)
      yield* away(true)
      // Others may take the job after seven
      yield* pass(6)
      expect(yield* run.interruptions).toBe(1)
      yield* pass(24)
      expect([yield* run.interruptions, yield* run.status]).toStrictEqual([1, "running"])
      yield* away(false)
      yield* pass(2)
      yield* Fiber.join(first)
      expect(yield* run.status).toBe("pending")
      const second = yield* run.start
      yield* run.plan
      yield* Fiber.join(second)
      expect(yield* run.status).toBe("succeeded")
    })
  )

  it.effect("stops before others may take it if the store does not answer", () =>
    Effect.gen(function* () {
      const run = yield* aRun(["parse", "plan", "apply"])
      const work = yield* run.start
      yield* pass(2)
      const answers = yield* Deferred.make<void>()
      yield* Ref.set((yield* Stage).answers, answers)
      yield* pass(8)
      const stopped = yield* run.interruptions
      yield* Deferred.succeed(answers, undefined)
      yield* pass(2)
      yield* Fiber.join(work)
      expect([stopped, yield* run.status]).toStrictEqual([1, "pending"])
    })
  )

  it.effect("continues when the clock jumps ahead while the store answers", () =>
    Effect.gen(function* () {
      const { clock, setBack } = yield* aClockToSetBack
      const { answers } = yield* Stage
      const answered = yield* Ref.get(answers)
      const run = yield* aRun(["parse", "plan", "apply"])
      const work = yield* Effect.withClock(run.start, clock)
      yield* pass(2)
      setBack(-3_600_000)
      // Each answer takes a moment
      for (let renewals = 0; renewals < 3; renewals++) {
        const answer = yield* Deferred.make<void>()
        yield* Ref.set(answers, answer)
        yield* TestClock.adjust("1 second")
        yield* Deferred.succeed(answer, undefined)
        yield* TestClock.adjust("100 millis")
      }
      yield* Ref.set(answers, answered)
      yield* run.plan
      yield* pass(2)
      yield* Fiber.join(work)
      expect([yield* run.interruptions, yield* run.status]).toStrictEqual([0, "succeeded"])
    })
  )

  it.effect("continues if it must not be repeated, and reports once the store is back", () =>
    Effect.gen(function* () {
      const run = yield* aRun([])
      const work = yield* run.start
      yield* pass(2)
      yield* away(true)
      yield* pass(120)
      yield* run.plan
      yield* pass(120)
      expect([yield* run.interruptions, yield* run.status]).toStrictEqual([0, "running"])
      yield* away(false)
      yield* pass(2)
      yield* Fiber.join(work)
      expect(yield* run.status).toBe("succeeded")
    })
  )

  it.effect("does not keep a server from stopping", () =>
    Effect.gen(function* () {
      const run = yield* aRun([])
      const work = yield* run.start
      yield* pass(2)
      yield* away(true)
      yield* run.plan
      yield* pass(10)
      const stopping = yield* Effect.fork(Fiber.interrupt(work))
      yield* pass(2)
      yield* Fiber.join(stopping)
      yield* away(false)
      expect(yield* run.status).toBe("running")
    })
  )
})
