import { setImmediate } from "node:timers/promises"
import { BuildResources } from "@atelier/core/agents"
import { Replicas } from "@atelier/core/deployment"
import { Organizations } from "@atelier/core/organizations"
import { EventBus, publish } from "@atelier/core/platform"
import {
  embeddedDaemons,
  JobClaims,
  jobPosted,
  JobRunner,
  jobStatus,
  JobQueueRepository,
  ProvisionerJobRepository,
  ProvisionerJobs,
  TemplateSources,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { dryRunJobs, importJobs } from "@atelier/core/templates"
import { NodeArchives, NodeEncryption } from "@atelier/node"
import { expect, it } from "@effect/vitest"
import { Chunk, Clock, Context, Deferred, Duration, Effect, Layer, Option, TestClock } from "effect"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aWaitingJob, noBuildJobs } from "../../../../../test/records/jobs.js"
import { runtime } from "../../../../../test/store/services.js"

/** An event bus that delivers nothing. */
const silence = Layer.succeed(EventBus, { isShared: false, publish: () => Effect.void, listen: () => Effect.void })

const builds = Layer.succeed(WorkspaceBuildJobs, noBuildJobs)

/** Completed when a daemon has looked for a job and found none. */
class Looked extends Context.Tag("Looked")<Looked, Deferred.Deferred<void>>() {
  static readonly layer = Layer.effect(Looked, Deferred.make<void>())
}

/** The store, which tells when nothing was found in it. */
const watched = Layer.effect(
  JobQueueRepository,
  Effect.map(Effect.all({ looked: Looked, queue: JobQueueRepository }), ({ looked, queue }) => ({
    ...queue,
    acquire: (claim) => Effect.tap(queue.acquire(claim), (job) => (Option.isNone(job) ? Deferred.succeed(looked, undefined) : Effect.void))
  }))
).pipe(Layer.provideMerge(Looked.layer))

const servicesOn = <R>(bus: Layer.Layer<EventBus, never, R>) =>
  JobRunner.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(JobClaims.layer, ProvisionerJobs.layer, dryRunJobs, importJobs, TemplateSources.layer)),
    Layer.provideMerge(Layer.mergeAll(BuildResources.layer, Organizations.layer, Replicas.layer, builds, NodeArchives.layer, testEngines)),
    Layer.provide(NodeEncryption.layer()),
    Layer.provideMerge(bus),
    Layer.provideMerge(runtime)
  )

/** A job that is stored, untold, once daemons have found nothing and wait. */
const missedJob = Effect.gen(function* () {
  const jobs = yield* ProvisionerJobRepository
  const { id: organization_id } = yield* (yield* Organizations).ensureDefault
  yield* Layer.build(embeddedDaemons({ hostname: "host", version: "v1" }))
  yield* Deferred.await(yield* Looked)
  const job = yield* aWaitingJob({ organization_id })
  return { job, isWaiting: Effect.map(Effect.flatMap(jobs.byId(job.id), Effect.orDie), (now) => jobStatus(now) === "pending") }
})

/** One turn of the event loop, in which answers of the store arrive. */
const eventLoop = Effect.promise(() => setImmediate())

/** Waits until a fiber sleeps for `duration` from now, by the clock of the test. What a fiber does before it sleeps takes real time. */
const asleepFor = (duration: Duration.DurationInput) =>
  Effect.gen(function* () {
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(duration)
    yield* Effect.repeat(Effect.zipRight(eventLoop, TestClock.sleeps()), { until: (sleeps) => Chunk.contains(sleeps, until) })
  })

// The services are made in the test: a second attempt must not find the daemons and the job of the first
for (const [name, database] of [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
] as const) {
  it.effect(`a daemon that hears nothing looks for jobs by itself within 30 seconds, on ${name}`, () =>
    Effect.gen(function* () {
      const { isWaiting } = yield* missedJob
      yield* asleepFor("30 seconds")
      yield* TestClock.adjust("29 seconds")
      expect(yield* isWaiting).toBe(true)
      yield* TestClock.adjust("1 seconds")
      yield* Effect.repeat(Effect.zipRight(eventLoop, isWaiting), { while: (still) => still })
    }).pipe(Effect.scoped, Effect.provide(servicesOn(silence).pipe(Layer.provideMerge(watched), Layer.provideMerge(database))))
  )
}

it.effect("a daemon that is told of a job takes it before any time has passed", () =>
  Effect.gen(function* () {
    const { isWaiting, job } = yield* missedJob
    yield* publish(jobPosted, { organization_id: job.organization_id, type: job.provisioner, tags: job.tags })
    yield* Effect.repeat(Effect.zipRight(eventLoop, isWaiting), { while: (still) => still })
  }).pipe(Effect.scoped, Effect.provide(servicesOn(EventBus.layerMemory).pipe(Layer.provideMerge(watched), Layer.provideMerge(sqlite))))
)
