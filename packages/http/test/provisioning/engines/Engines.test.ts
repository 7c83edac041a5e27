/** Daemons leave jobs to others that their own engines cannot run. templates-and-provisioning.md §6.4. */
import { BuildResources } from "@atelier/core/agents"
import { Replicas } from "@atelier/core/deployment"
import { Organizations } from "@atelier/core/organizations"
import { EventBus, Ids, publish, StoreUnavailable, Timestamp, type Uuid } from "@atelier/core/platform"
import {
  type ClaimedJob,
  DaemonStatus,
  embeddedDaemons,
  type Engine,
  FileRepository,
  JobClaims,
  jobPosted,
  JobRunner,
  jobStatus,
  ModuleArchives,
  type Phase,
  ProvisionerDaemonRepository,
  ProvisionerEngines,
  type ProvisionerJob,
  ProvisionerJobRepository,
  ProvisionerJobs,
  ProvisionerKeys,
  RemoteDaemons,
  RemoteJobs,
  TemplateSources,
  unmatchedJobs,
  userKeyId,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { dryRunJobs, importJobs } from "@atelier/core/templates"
import { NodeArchives, NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Chunk, Deferred, Effect, Layer, Logger, Option, Queue, Stream, TestClock } from "effect"
import { aTar } from "../../../../../test/records/archives.js"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { poisoned } from "../../../../../test/store/poison.js"
import { testEngine, testEngines } from "../../../../../test/outside/engine.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../../test/records/jobs.js"
import { runtime } from "../../../../../test/store/services.js"

const servicesWith = (engines: Layer.Layer<ProvisionerEngines>) =>
  RemoteDaemons.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(RemoteJobs.layer, ProvisionerKeys.layer, ModuleArchives.layer)),
    Layer.provideMerge(JobRunner.layer),
    Layer.provideMerge(Layer.mergeAll(JobClaims.layer, ProvisionerJobs.layer, dryRunJobs, importJobs, TemplateSources.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        BuildResources.layer,
        Organizations.layer,
        Replicas.layer,
        Layer.succeed(WorkspaceBuildJobs, noBuildJobs),
        NodeArchives.layer,
        engines
      )
    ),
    Layer.provide(NodeEncryption.layer()),
    Layer.provideMerge(EventBus.layerMemory),
    Layer.provideMerge(runtime)
  )

/** A posted import of a source with one file. */
const anImportOf = (path: string, organization?: Uuid.Uuid) =>
  Effect.gen(function* () {
    const id = yield* (yield* Ids).next
    const content = yield* Effect.promise(() => aTar({ [path]: "{}" }))
    const file = { id, hash: id, created_at: yield* Timestamp.now, created_by: id, mimetype: "application/x-tar", size: content.length }
    yield* Effect.orDie((yield* FileRepository).insert(file, content, 1e9))
    const organization_id = organization ?? (yield* (yield* Organizations).ensureDefault).id
    const job = yield* aWaitingJob({ organization_id, file_id: id })
    yield* publish(jobPosted, { organization_id, type: job.provisioner, tags: job.tags })
    return job
  })

const reload = ({ id }: ProvisionerJob) => Effect.orDie(Effect.flatten(Effect.flatMap(ProvisionerJobRepository, ({ byId }) => byId(id))))

const ended = (job: ProvisionerJob) =>
  Effect.repeat(Effect.zipRight(Effect.yieldNow(), reload(job)), { until: ({ completed_at }) => completed_at !== null })

const linesOf = ({ id }: ProvisionerJob) =>
  Effect.map(
    Effect.flatMap(ProvisionerJobs, ({ logs }) => Stream.runCollect(logs(id, 0))),
    (rows) => Chunk.toReadonlyArray(rows).map(({ output }) => output)
  )

/** Lets time pass until the log of a job has a line. */
const firstLine = (job: ProvisionerJob) =>
  Effect.repeat(Effect.zipRight(TestClock.adjust("5 seconds"), linesOf(job)), { until: (lines) => lines.length > 0 })

const startOn = (hostname: string) => Layer.build(embeddedDaemons({ hostname, version: "v1" }))
const start = startOn("host")

const unknownSource = "No provisioner of this server understands the template. Its files are: main.tf."

for (const [name, database] of [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
] as const) {
  layer(servicesWith(testEngines).pipe(Layer.provideMerge(database)))(`a server's daemons on ${name}`, (it) => {
    it.effect("recover the workspaces of their machine once the store answers, and tell of its outage once", () =>
      Effect.gen(function* () {
        const lines: Array<unknown> = []
        const logger = Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => void (String(message).includes("could not be recovered") && lines.push(message)))
        )
        const away = Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))
        let reads = 0
        const running = Stream.unwrap(Effect.suspend(() => (++reads <= 3 ? away : Effect.succeed(Stream.empty))))
        const recovered = yield* Deferred.make<void>()
        const engine: Engine = {
          ...testEngine,
          recover: (running) => Effect.zipRight(Stream.runDrain(running), Effect.asVoid(Deferred.succeed(recovered, undefined)))
        }
        yield* start.pipe(
          Effect.provideService(ProvisionerEngines, [engine]),
          Effect.provideService(WorkspaceBuildJobs, { ...noBuildJobs, running }),
          Effect.provide(logger)
        )
        yield* Effect.repeatN(TestClock.adjust("5 seconds"), 2)
        expect([reads, yield* Deferred.isDone(recovered), lines.length]).toStrictEqual([4, true, 1])
      }).pipe(Effect.scoped)
    )

    it.effect("fail a job that no engine of theirs understands and no other daemon could take", () =>
      Effect.gen(function* () {
        yield* start
        expect((yield* ended(yield* anImportOf("main.tf"))).error).toBe(unknownSource)
      }).pipe(Effect.scoped)
    )

    it.effect("fail it beside another replica with the same engines", () =>
      Effect.gen(function* () {
        yield* startOn("first")
        yield* startOn("second")
        expect((yield* ended(yield* anImportOf("main.tf"))).error).toBe(unknownSource)
      }).pipe(Effect.scoped)
    )

    it.effect("leave it to a daemon with an engine that this server does not have", () =>
      Effect.gen(function* () {
        const { id: organization_id } = yield* (yield* Organizations).ensureDefault
        const other = yield* aDaemon({ organization_id, key_id: userKeyId }, ["test", "another"])
        yield* start
        const job = yield* anImportOf("main.tf")
        expect(yield* firstLine(job)).toStrictEqual([`${unknownSource} The job waits for another daemon.`])
        expect(Option.map(yield* (yield* JobClaims).take(other), ({ id }) => id)).toStrictEqual(Option.some(job.id))
      }).pipe(Effect.scoped)
    )

    it.effect("leave a job that another daemon took and returned while they looked at its source", () =>
      Effect.gen(function* () {
        const { id: organization_id } = yield* (yield* Organizations).ensureDefault
        const other = yield* aDaemon({ organization_id, key_id: userKeyId })
        const claims = yield* JobClaims
        const sources = yield* TemplateSources
        const taken = yield* Deferred.make<ClaimedJob>()
        const take = Effect.tap(claims.take(other), (job) => (Option.isSome(job) ? Deferred.succeed(taken, job.value) : Effect.void))
        let looks = 0
        const judge = (id: ProvisionerJob["file_id"]) => Effect.zipRight(looks++ === 0 ? take : Effect.void, sources.judge(id))
        yield* Effect.provideService(start, TemplateSources, { ...sources, judge })
        const job = yield* anImportOf("main.tf")
        yield* claims.giveBack(yield* Deferred.await(taken), { cause: "daemon", repeatable: true })
        const after = yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), reload(job)), {
          until: ({ completed_at }) => completed_at !== null || looks === 2
        })
        expect([jobStatus(after), after.error]).toStrictEqual(["pending", ""])
        // The server's daemons may look at it once more
        const again = yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), claims.take(other)), { until: Option.isSome })
        expect(Option.map(again, ({ id }) => id)).toStrictEqual(Option.some(job.id))
      }).pipe(Effect.scoped)
    )

    it.effect("fail it once the other daemons are gone for long", () =>
      Effect.gen(function* () {
        const { id: organization_id } = yield* (yield* Organizations).ensureDefault
        yield* aDaemon({ organization_id, key_id: userKeyId })
        yield* start
        const job = yield* anImportOf("main.tf")
        yield* firstLine(job)
        expect(jobStatus(yield* reload(job))).toBe("pending")
        const after = yield* Effect.repeat(Effect.zipRight(TestClock.adjust("5 seconds"), reload(job)), {
          until: ({ completed_at }) => completed_at !== null
        })
        expect(after.error).toBe(unknownSource)
        expect(Timestamp.toMillis(after.completed_at ?? Timestamp.never) - Timestamp.toMillis(job.created_at)).toBeLessThan(150_000)
      }).pipe(Effect.scoped)
    )

    it.effect("leave it to another daemon, and say so in its log", () =>
      Effect.gen(function* () {
        const { id: organization_id } = yield* (yield* Organizations).ensureDefault
        const other = yield* aDaemon({ organization_id, key_id: userKeyId })
        yield* start
        const foreign = yield* anImportOf("main.tf")
        expect(yield* firstLine(foreign)).toStrictEqual([`${unknownSource} The job waits for another daemon.`])
        expect(jobStatus(yield* reload(foreign))).toBe("pending")
        // The second one is passed over without a look at its source
        const again = yield* aWaitingJob({ organization_id, file_id: foreign.file_id })
        expect((yield* ended(yield* anImportOf("template.json"))).error).not.toContain("No provisioner")
        expect(jobStatus(yield* reload(again))).toBe("pending")
        const taken = yield* (yield* JobClaims).take(other)
        expect(Option.map(taken, ({ attempts, id }) => [id, attempts])).toStrictEqual(Option.some([foreign.id, 1]))
      }).pipe(Effect.scoped)
    )
  })
}

/** Connects a daemon with engines, or one that does not tell them, in a new organization. */
const connected = (organization_id: Uuid.Uuid, engines: ReadonlySet<string> | undefined) =>
  Effect.gen(function* () {
    const daemon = yield* aDaemon({ organization_id, key_id: userKeyId })
    const admitted = { daemon, work: { running: 0, ended: () => undefined }, isAllowed: Effect.succeed(true), repeatable: new Set<Phase>() }
    const { acquire } = yield* (yield* RemoteDaemons).connect({ ...admitted, engines })
    return Effect.map(acquire(Effect.succeed), ({ job }) => job.id)
  })

for (const [name, database] of [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
] as const) {
  layer(servicesWith(testEngines).pipe(Layer.provideMerge(database)))(`a daemon in another process on ${name}`, (it) => {
    it.scoped("leaves a job whose engine it has not named while another may have it, and the job's log says so", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        yield* aDaemon({ organization_id, key_id: userKeyId })
        const left = yield* anImportOf("template.json", organization_id)
        const unknown = yield* anImportOf("main.tf", organization_id)
        // Which engine runs the second source, this server cannot tell
        expect(yield* yield* connected(organization_id, new Set(["other"]))).toBe(unknown.id)
        expect(yield* firstLine(left)).toStrictEqual([
          "A daemon with the tags of this job is connected, but it does not have the engine test. The job waits for another daemon."
        ])
        expect(yield* yield* connected(organization_id, new Set(["other", "test"]))).toBe(left.id)
      })
    )

    it.scoped("takes it to refuse it if no live daemon has the engine", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        yield* aDaemon({ organization_id, key_id: userKeyId, last_seen_at: null })
        yield* aDaemon({ organization_id, key_id: userKeyId }, ["another"])
        const job = yield* anImportOf("template.json", organization_id)
        expect(yield* yield* connected(organization_id, new Set(["other"]))).toBe(job.id)
      })
    )

    it.scoped("takes any job if it does not name its engines", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        const jobs = [yield* anImportOf("template.json", organization_id), yield* anImportOf("main.tf", organization_id)]
        const take = yield* connected(organization_id, undefined)
        expect([yield* take, yield* take]).toStrictEqual(jobs.map(({ id }) => id))
      })
    )
  })
}

layer(servicesWith(Layer.succeed(ProvisionerEngines, [])).pipe(Layer.provideMerge(sqlite)))(
  "a server whose engines leave something behind",
  (it) => {
    it.scoped("has them sweep at its start and every ten minutes, and one that fails keeps no other from it", () =>
      Effect.gen(function* () {
        const [kept, gone] = [yield* (yield* Ids).next, yield* (yield* Ids).next]
        const sweeps = yield* Queue.unbounded<ReadonlyArray<Uuid.Uuid>>()
        const broken: Engine = { ...testEngine, name: "broken", sweep: () => Effect.die("the daemon is away") }
        const sweeping: Engine = {
          ...testEngine,
          name: "sweeping",
          sweep: (exists) => Effect.flatMap(exists([kept, gone]), (existing) => Queue.offer(sweeps, [...existing]))
        }
        yield* start.pipe(
          Effect.provideService(ProvisionerEngines, [broken, sweeping]),
          Effect.provideService(WorkspaceBuildJobs, { ...noBuildJobs, existing: () => Effect.succeed(new Set([kept])) })
        )
        expect(yield* sweeps).toStrictEqual([kept])
        yield* TestClock.adjust("9 minutes")
        expect(yield* Queue.size(sweeps)).toBe(0)
        yield* TestClock.adjust("1 minute")
        expect(yield* sweeps).toStrictEqual([kept])
      })
    )
  }
)

layer(servicesWith(Layer.succeed(ProvisionerEngines, [])).pipe(Layer.provideMerge(sqlite)))("a server without an engine", (it) => {
  it.effect("has no daemons, and jobs say that they wait for one", () =>
    Effect.gen(function* () {
      yield* start
      const job = yield* anImportOf("main.tf")
      const filter = {
        organization_id: job.organization_id,
        statuses: DaemonStatus.literals,
        alive_since: Timestamp.fromMillis(0),
        limit: 10
      }
      const daemons = yield* (yield* ProvisionerDaemonRepository).list(filter)
      yield* unmatchedJobs.run
      expect([daemons, yield* linesOf(job)]).toStrictEqual([[], []])
      yield* TestClock.adjust("10 seconds")
      for (let looks = 0; looks < 2; looks++) yield* unmatchedJobs.run
      expect(yield* linesOf(job)).toStrictEqual([
        "No provisioner daemon with the tags of this job is connected (owner=, scope=organization). The job waits for one."
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("a job whose log cannot be written keeps no others from theirs", () =>
    Effect.gen(function* () {
      yield* start
      const [poison, other] = [yield* anImportOf("main.tf"), yield* anImportOf("main.tf")]
      yield* TestClock.adjust("10 seconds")
      yield* poisoned("provisioner_job_logs", "job_id", poison.id).pipe(Effect.zipRight(unmatchedJobs.run), Effect.scoped)
      expect([(yield* linesOf(poison)).length, (yield* linesOf(other)).length]).toStrictEqual([0, 1])
      yield* unmatchedJobs.run
      expect(yield* linesOf(poison)).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(Logger.remove(Logger.defaultLogger)))
  )
})
