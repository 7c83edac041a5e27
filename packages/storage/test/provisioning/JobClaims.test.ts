import { DeploymentOptions, Replicas } from "@atelier/core/deployment"
import { EventBus, Events, Invalid, Timestamp, Uuid } from "@atelier/core/platform"
import {
  type BuildFailure,
  ClaimLost,
  type ClaimedJob,
  JobClaims,
  jobLogs,
  jobPosted,
  jobReaper,
  jobStatus,
  leaseWatch,
  maximumLogsSize,
  type NewJobLog,
  overflowNotice,
  type ProvisionerJob,
  JobLogRepository,
  JobQueueRepository,
  ProvisionerJobRepository,
  ProvisionerJobs,
  untagged,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { Chunk, Clock, Context, Deferred, Effect, Fiber, Layer, Option, Ref, Stream, TestClock } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { whilePassing } from "../../../../test/store/time.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../test/records/jobs.js"
import { runtime } from "../../../../test/store/services.js"

/** What the workspaces' side was told. */
class Told extends Context.Tag("Told")<
  Told,
  { readonly ended: Ref.Ref<ReadonlyArray<readonly [Uuid.Uuid, BuildFailure]>>; readonly changed: Ref.Ref<ReadonlyArray<Uuid.Uuid>> }
>() {
  static readonly layer = Layer.effect(
    Told,
    Effect.all({ ended: Ref.make<ReadonlyArray<readonly [Uuid.Uuid, BuildFailure]>>([]), changed: Ref.make<ReadonlyArray<Uuid.Uuid>>([]) })
  )
}

const builds = Layer.effect(
  WorkspaceBuildJobs,
  Effect.map(Told, ({ changed, ended }) => ({
    ...noBuildJobs,
    ended: (id: Uuid.Uuid, failure: BuildFailure) => Ref.update(ended, (all) => [...all, [id, failure] as const]),
    changed: (id: Uuid.Uuid) => Ref.update(changed, (all) => [...all, id])
  }))
)

/** One watch for all tests of a database, as a server has one. */
class LeaseWatch extends Context.Tag("LeaseWatch")<LeaseWatch, Effect.Effect.Success<typeof leaseWatch>>() {
  static readonly layer = Layer.effect(LeaseWatch, leaseWatch)
}

const services = Layer.mergeAll(JobClaims.layer, LeaseWatch.layer, ProvisionerJobs.layer, Replicas.layer).pipe(
  Layer.provideMerge(builds),
  Layer.provideMerge(Told.layer),
  Layer.provideMerge(runtime)
)

const aBuildId = Uuid.Uuid.make("7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")

/** A job that a daemon has taken. */
const aTakenJob = (fields: Partial<ProvisionerJob> = {}) =>
  Effect.gen(function* () {
    const organization_id = yield* aFreshOrganization
    const daemon = yield* aDaemon({ organization_id })
    yield* aWaitingJob({ organization_id, ...fields })
    const claims = yield* JobClaims
    const job = yield* Effect.flatten(claims.take(daemon))
    return { job, daemon }
  })

const statusOf = ({ id }: Pick<ProvisionerJob, "id">) =>
  Effect.flatMap(ProvisionerJobRepository, ({ byId }) => Effect.map(Effect.flatten(byId(id)), jobStatus))

/** The job, as locked by its current holder. */
const held = ({ id }: Pick<ProvisionerJob, "id">) => Effect.flatMap(ProvisionerJobRepository, ({ lock }) => Effect.flatten(lock(id)))

const reload = ({ id }: Pick<ProvisionerJob, "id">) => Effect.flatMap(ProvisionerJobRepository, ({ byId }) => Effect.flatten(byId(id)))

const aRow = (output: string): NewJobLog => ({
  created_at: Timestamp.fromMillis(0),
  log_source: "provisioner",
  log_level: "info",
  stage: "Planning",
  output
})

const rowsOf = ({ id }: Pick<ProvisionerJob, "id">, after = 0) =>
  Effect.flatMap(ProvisionerJobs, ({ logs }) => Effect.map(Stream.runCollect(logs(id, after)), Chunk.toReadonlyArray))

for (const [name, database] of databases) {
  layer(Layer.provideMerge(services, database))(`a claim on ${name}`, (it) => {
    it.effect("is the only one that can change the job", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { job } = yield* aTakenJob()
        const stranger: ClaimedJob = { ...job, claim_id: aBuildId }
        const attempts: ReadonlyArray<Effect.Effect<unknown, unknown, Effect.Effect.Context<ReturnType<typeof claims.log>>>> = [
          claims.renew(stranger),
          claims.forbidRepeating(stranger),
          claims.log(stranger, [aRow("x")]),
          claims.store(stranger, Effect.dieMessage("written without a claim")),
          claims.complete(stranger, Effect.void),
          claims.fail(stranger, { message: "x" }),
          claims.giveBack(stranger, { repeatable: true, cause: "stopping" })
        ]
        for (const attempt of attempts) expect(yield* Effect.flip(attempt)).toBeInstanceOf(ClaimLost)
        expect(yield* statusOf(job)).toBe("running")
        yield* claims.complete(job, Effect.void)
        expect(yield* Effect.flip(claims.fail(job, { message: "too late" }))).toBeInstanceOf(ClaimLost)
        expect(yield* statusOf(job)).toBe("succeeded")
      })
    )

    it.effect("stores the job's results together with its end, or neither", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const logs = yield* JobLogRepository
        const { job } = yield* aTakenJob()
        const store = Effect.zipRight(logs.append(job.id, [aRow("made")], 4, false), new Invalid({ message: "a bad name" }))
        expect(yield* Effect.flip(claims.complete(job, store))).toBeInstanceOf(Invalid)
        expect([yield* statusOf(job), (yield* rowsOf(job)).length]).toStrictEqual(["running", 0])
      })
    )

    it.effect("ends a build's job with the failure, its code and the remaining state", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { ended } = yield* Told
        const { job } = yield* aTakenJob({ type: "workspace_build", input: { workspace_build_id: aBuildId } })
        const failure: BuildFailure = { message: "no disk", code: "INSUFFICIENT_QUOTA", state: new Uint8Array([1]) }
        yield* claims.fail(job, failure)
        expect(yield* reload(job)).toMatchObject({ error: "no disk", error_code: "INSUFFICIENT_QUOTA" })
        expect((yield* Ref.get(ended)).at(-1)).toStrictEqual([aBuildId, failure])
      })
    )

    it.effect("never lets a failure look like a success", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { job } = yield* aTakenJob()
        yield* claims.fail(job, { message: "" })
        expect(yield* statusOf(job)).toBe("failed")
      })
    )

    it.effect("that is canceled ends as canceled, whether the work stopped or was faster", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const jobs = yield* ProvisionerJobs
        const { job: stopped } = yield* aTakenJob()
        yield* jobs.cancel(stopped.id)
        expect([yield* statusOf(stopped), yield* claims.renew(stopped)]).toStrictEqual(["canceling", { canceled: true }])
        yield* claims.acknowledgeCancel(stopped)
        const { job: faster } = yield* aTakenJob()
        yield* jobs.cancel(faster.id)
        yield* claims.complete(faster, Effect.void)
        expect([yield* statusOf(stopped), yield* statusOf(faster)]).toStrictEqual(["canceled", "canceled"])
      })
    )

    it.effect("is returned to the queue if it is repeatable", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { daemon, job } = yield* aTakenJob()
        for (const cause of ["stopping", "store", "stopping", "store", "stopping"] as const) {
          yield* claims.giveBack(yield* held(job), { repeatable: true, cause })
          expect(yield* reload(job)).toMatchObject({ started_at: null, worker_id: null })
          const again = yield* Effect.flatten(claims.take(daemon))
          expect([again.id, again.attempts]).toStrictEqual([job.id, 1])
        }
        yield* claims.giveBack(yield* held(job), { repeatable: false, cause: "stopping" })
        expect((yield* reload(job)).error).toBe("The server was stopped while it changed the workspace.")
      })
    )

    it.effect("is not needed to cancel: a waiting job ends at once, and only once", () =>
      Effect.gen(function* () {
        const jobs = yield* ProvisionerJobs
        const { id } = yield* aWaitingJob({ organization_id: yield* aFreshOrganization })
        const events = yield* Events.subscribe(jobLogs(id))
        const heard = yield* Effect.fork(Stream.runHead(events))
        expect(yield* Effect.flip(jobs.cancel(id, { expectStatus: "running" }))).toMatchObject({ _tag: "ExpectationMismatch" })
        yield* jobs.cancel(id, { expectStatus: "pending" })
        expect(yield* statusOf({ id })).toBe("canceled")
        expect(yield* Fiber.join(heard)).toStrictEqual(Option.some({ _tag: "Event", event: { end_of_logs: true } }))
        expect(yield* Effect.flip(jobs.cancel(id))).toMatchObject({ _tag: "Invalid" })
      }).pipe(Effect.scoped)
    )

    it.effect("is canceled once by concurrent calls", () =>
      Effect.gen(function* () {
        const jobs = yield* ProvisionerJobs
        const { job } = yield* aTakenJob()
        const results = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.either(jobs.cancel(job.id))),
          { concurrency: "unbounded" }
        )
        expect(results.filter(({ _tag }) => _tag === "Right").length).toBe(1)
      })
    )

    it.effect("streams its log to followers: stored rows, new rows, and an end", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const jobs = yield* ProvisionerJobs
        const { job } = yield* aTakenJob()
        yield* claims.log(job, [aRow("before 1"), aRow("before 2")])
        const [first] = yield* rowsOf(job)
        const seen = yield* Ref.make<ReadonlyArray<string>>([])
        const following = yield* jobs.follow(job.id, first?.id ?? 0).pipe(
          Stream.runForEach(({ output }) => Ref.update(seen, (all) => [...all, output])),
          Effect.fork
        )
        yield* Effect.repeat(Effect.yieldNow(), { until: () => Effect.map(Ref.get(seen), (all) => all.length === 1) })
        yield* claims.log(job, [aRow("after")])
        yield* claims.complete(job, Effect.void)
        yield* Fiber.join(following)
        expect(yield* Ref.get(seen)).toStrictEqual(["before 2", "after"])
      })
    )

    it.effect("stores the last rows of its log with its end, and neither without the other", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const jobs = yield* ProvisionerJobs
        const { job } = yield* aTakenJob()
        yield* claims.log(job, [aRow("first")])
        const following = yield* Effect.fork(Stream.runCollect(jobs.follow(job.id, 0)))
        const refused = new Invalid({ message: "no" })
        expect(yield* Effect.flip(claims.complete(job, refused, [aRow("undone")]))).toBeInstanceOf(Invalid)
        yield* claims.complete(job, Effect.void, [aRow("second"), aRow("third")])
        const rows = Chunk.toReadonlyArray(yield* Fiber.join(following))
        expect(rows.map(({ output }) => output)).toStrictEqual(["first", "second", "third"])
        const { completed_at, logs_length } = yield* reload(job)
        expect([completed_at === null, logs_length]).toStrictEqual([false, "firstsecondthird".length])
      })
    )

    it.effect("has followers that miss nothing where events are lost", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const jobs = yield* ProvisionerJobs
        const logs = yield* JobLogRepository
        const { job } = yield* aTakenJob()
        const following = yield* Effect.fork(Stream.runCollect(jobs.follow(job.id, 0)))
        // Rows without an event
        yield* logs.append(job.id, [aRow("silent")], 6, false)
        yield* Effect.flatMap(EventBus, ({ publish }) => publish(jobLogs(job.id).name, "this decodes to nothing"))
        yield* claims.complete(job, Effect.void)
        const rows = yield* whilePassing("31 seconds", Fiber.join(following))
        expect(Chunk.toReadonlyArray(rows).map(({ output }) => output)).toStrictEqual(["silent"])
      })
    )

    it.effect("continues after its log has reached its limit, which ends with a notice", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { job } = yield* aTakenJob()
        yield* claims.log(job, [aRow("x".repeat(maximumLogsSize - 100)), aRow("y".repeat(200))])
        yield* claims.log(job, [aRow("z")])
        const rows = yield* rowsOf(job)
        expect(rows.map(({ log_level, output }) => [log_level, output.slice(0, 60)])).toStrictEqual([
          ["info", "x".repeat(60)],
          ["warn", overflowNotice.slice(0, 60)]
        ])
        expect((yield* reload(job)).logs_overflowed).toBe(true)
        yield* claims.complete(job, Effect.void)
      })
    )
  })

  layer(Layer.provideMerge(services, database))(`a job whose server died on ${name}`, (it) => {
    const look = Effect.flatMap(LeaseWatch, ({ run }) => run)
    /** Time passes, in which leases are looked at every five seconds. */
    const pass = (seconds: number) => Effect.replicateEffect(Effect.zipRight(TestClock.adjust("5 seconds"), look), seconds / 5)
    const dies = pass(20)

    it.effect("is repeated after the usual time if the clock is set back meanwhile", () =>
      Effect.gen(function* () {
        yield* dies
        const { job } = yield* aTakenJob()
        yield* TestClock.setTime((yield* Clock.currentTimeMillis) - 3_600_000)
        yield* look
        expect(yield* statusOf(job)).toBe("running")
        yield* pass(20)
        expect(yield* statusOf(job)).toBe("pending")
      })
    )

    it.effect("is repeated at most three times, with its lost lines marked", () =>
      Effect.gen(function* () {
        yield* dies
        const claims = yield* JobClaims
        const { daemon, job } = yield* aTakenJob()
        yield* claims.log(job, [aRow("half a line")])
        yield* pass(10)
        expect(yield* statusOf(job)).toBe("running")
        const posted = yield* Events.subscribe(jobPosted)
        const heard = yield* Effect.fork(Stream.runHead(posted))
        yield* pass(10)
        expect(yield* statusOf(job)).toBe("pending")
        expect(
          (yield* rowsOf(job)).map(({ log_level, log_source, output, stage }) => [log_source, log_level, stage, output])
        ).toStrictEqual([
          ["provisioner", "info", "Planning", "half a line"],
          ["provisioner_daemon", "warn", "Planning", expect.stringContaining("The job starts again; the lines above are of the lost run.")]
        ])
        expect(yield* Fiber.join(heard)).toStrictEqual(
          Option.some({ _tag: "Event", event: { organization_id: job.organization_id, type: "echo", tags: untagged } })
        )
        for (const status of ["pending", "pending", "failed"]) {
          yield* claims.take(daemon)
          yield* dies
          expect(yield* statusOf(job)).toBe(status)
        }
        expect((yield* reload(job)).error).toContain("4 times")
      }).pipe(Effect.scoped)
    )

    it.effect("keeps it when it is only slow: each sign of life counts from anew", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const { job } = yield* aTakenJob()
        for (const _ of [1, 2, 3]) {
          yield* pass(10)
          yield* claims.renew(job)
        }
        expect(yield* statusOf(job)).toBe("running")
      })
    )

    it.effect("keeps it when the store was away for longer than its lease", () =>
      Effect.gen(function* () {
        yield* dies
        const claims = yield* JobClaims
        const { job } = yield* aTakenJob()
        yield* claims.forbidRepeating(job)
        // The store is unavailable: no lease is renewed, and none is checked
        yield* TestClock.adjust("10 minutes")
        yield* look
        expect(yield* statusOf(job)).toBe("running")
        yield* claims.renew(job)
        yield* pass(300)
        expect(yield* statusOf(job)).toBe("running")
        yield* pass(20)
        expect(yield* statusOf(job)).toBe("failed")
      })
    )

    it.effect("fails in a phase that cannot be repeated", () =>
      Effect.gen(function* () {
        const claims = yield* JobClaims
        const jobs = yield* ProvisionerJobs
        const { ended } = yield* Told
        yield* dies
        const { job: applying } = yield* aTakenJob({ type: "workspace_build", input: { workspace_build_id: aBuildId } })
        yield* claims.forbidRepeating(applying)
        const { job: canceled } = yield* aTakenJob()
        yield* jobs.cancel(canceled.id)
        yield* dies
        expect([yield* statusOf(applying), yield* statusOf(canceled)]).toStrictEqual(["running", "canceled"])
        yield* pass(300)
        expect([yield* statusOf(applying), yield* statusOf(canceled)]).toStrictEqual(["failed", "canceled"])
        expect((yield* Ref.get(ended)).at(-1)?.[0]).toBe(aBuildId)
        expect(yield* Effect.flip(claims.complete(applying, Effect.void))).toBeInstanceOf(ClaimLost)
      })
    )
  })

  layer(Layer.provideMerge(services, database))(`the reaper on ${name}`, (it) => {
    /** Time passes, in which the reaper runs each minute. */
    const pass = (worker: Effect.Effect.Success<typeof jobReaper>, minutes: number) =>
      Effect.replicateEffect(Effect.zipRight(TestClock.adjust("1 minute"), worker.run), minutes)

    it.effect("fails a job without a heartbeat for five minutes, with a note in its log", () =>
      Effect.gen(function* () {
        const logs = yield* JobLogRepository
        const { ended } = yield* Told
        const reaper = yield* jobReaper
        yield* pass(reaper, 2)
        const now = yield* Timestamp.now
        // A daemon elsewhere has no lease
        const job = yield* aWaitingJob({
          organization_id: yield* aFreshOrganization,
          started_at: now,
          type: "workspace_build",
          input: { workspace_build_id: aBuildId }
        })
        yield* logs.append(job.id, [aRow("working")], 7, false)
        yield* pass(reaper, 4)
        yield* TestClock.adjust("59 seconds")
        yield* reaper.run
        expect(yield* statusOf(job)).toBe("running")
        yield* TestClock.adjust("2 seconds")
        yield* reaper.run
        const failed = yield* reload(job)
        expect(failed).toMatchObject({ error_code: "" })
        expect(failed.error).toMatch(/hung for 5 minutes.*reaper/)
        const rows = (yield* rowsOf(job)).slice(1)
        expect(rows.map(({ log_level, log_source, output, stage }) => [log_source, log_level, stage, output])).toStrictEqual(
          ["", "=".repeat(20), failed.error, "=".repeat(20), ""].map((output) => ["provisioner_daemon", "error", "Planning", output])
        )
        const [first, second] = rows
        expect(Timestamp.toMillis(second?.created_at ?? now) - Timestamp.toMillis(first?.created_at ?? now)).toBe(1)
        expect((yield* Ref.get(ended)).at(-1)).toStrictEqual([aBuildId, { message: failed.error }])
      })
    )

    it.effect("fails a job that waits for thirty minutes, and gives it a start", () =>
      Effect.gen(function* () {
        const reaper = yield* jobReaper
        const job = yield* aWaitingJob({ organization_id: yield* aFreshOrganization })
        yield* pass(reaper, 29)
        expect(yield* statusOf(job)).toBe("pending")
        yield* pass(reaper, 2)
        const failed = yield* reload(job)
        expect(failed.error).toMatch(/pending for 30 minutes/)
        expect(failed.started_at).toBe(failed.completed_at)
        expect((yield* rowsOf(job)).map(({ stage }) => stage)[0]).toBe("Unknown")
      })
    )

    it.effect("leaves jobs to daemons for a minute after the store was away", () =>
      Effect.gen(function* () {
        const reaper = yield* jobReaper
        yield* pass(reaper, 2)
        const job = yield* aWaitingJob({ organization_id: yield* aFreshOrganization })
        yield* TestClock.adjust("1 hour")
        yield* reaper.run
        expect(yield* statusOf(job)).toBe("pending")
        yield* pass(reaper, 1)
        expect(yield* statusOf(job)).toBe("failed")
      })
    )

    it.effect("runs again after one whose statement was not answered for five minutes", () =>
      Effect.gen(function* () {
        const queue = yield* JobQueueRepository
        const answer = yield* Deferred.make<ReadonlyArray<Uuid.Uuid>>()
        const untouched = () => Effect.uninterruptible(Deferred.await(answer))
        const { run } = yield* jobReaper
        const running = yield* Effect.fork(Effect.provideService(run, JobQueueRepository, { ...queue, untouched }))
        yield* TestClock.adjust("5 minutes")
        expect(Option.isSome(yield* Fiber.poll(running))).toBe(true)
        yield* Deferred.succeed(answer, [])
      })
    )

    it.effect("runs as often as the deployment says", () =>
      Effect.gen(function* () {
        const options = yield* DeploymentOptions
        expect((yield* jobReaper).every).toStrictEqual(options.jobHangDetectorInterval)
      })
    )
  })
}
