import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import {
  leaseDuration,
  leaseWatch,
  ProvisionerEngines,
  JobQueueRepository,
  ProvisionerJobRepository,
  ProvisionerJobs,
  untagged
} from "@atelier/core/provisioning"
import { Postgres } from "@atelier/storage-postgres"
import { Duration, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { databaseUrl, sqliteIn } from "../../../../../test/store/databases.js"
import { testEngine, testEngines } from "../../../../../test/outside/engine.js"
import { describeServer, startServer, type TestServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aVersion, ended, getVersion } from "../../../../../test/http/templates.js"

const jobOf = (server: TestServer, id: Uuid.Uuid) =>
  server.run(Effect.flatMap(ProvisionerJobRepository, ({ byId }) => Effect.map(byId(id), Option.getOrThrow)))

/** The job as soon as a daemon has announced what it does first. */
const started = (server: TestServer, id: Uuid.Uuid) =>
  server.run(Effect.flatMap(ProvisionerJobs, ({ follow }) => Stream.runHead(follow(id, 0))))

const cancel = (server: TestServer, versionId: string) =>
  server.call("PATCH", `/templateversions/${versionId}/cancel`, { token: server.owner().token })

describeServer(
  "daemons",
  (server) => {
    it("take a job that has been posted, and hear of its cancellation", async () => {
      const { id, job } = await aVersion(server(), { hangs: "plan" })
      await started(server(), job.id)
      const running = await jobOf(server(), job.id)
      await cancel(server(), id)
      await ended(server(), job)
      expect((await getVersion(server(), id)).job).toMatchObject({ status: "canceled", worker_id: running.worker_id })
    })

    it("run one job per daemon at a time, and then the next", async () => {
      const versions = [
        await aVersion(server(), { hangs: "plan" }),
        await aVersion(server(), { hangs: "plan" }),
        await aVersion(server(), { hangs: "plan" })
      ] as const
      await started(server(), versions[0].job.id)
      await started(server(), versions[1].job.id)
      expect((await getVersion(server(), versions[2].id)).job).toMatchObject({ status: "pending", queue_position: 1, queue_size: 1 })
      await cancel(server(), versions[0].id)
      await started(server(), versions[2].job.id)
      expect((await getVersion(server(), versions[2].id)).job.status).toBe("running")
      await cancel(server(), versions[1].id)
      await cancel(server(), versions[2].id)
      for (const { job } of versions) await ended(server(), job)
    })

    it("stop waiting for an engine that does not end, and continue", async () => {
      const { id, job } = await aVersion(server(), { hangs: "plan", stubborn: true })
      await started(server(), job.id)
      await cancel(server(), id)
      await ended(server(), job)
      const failed = await getVersion(server(), id)
      expect(failed.job.status).toBe("failed")
      expect(failed.job.error).toContain("in time")
      expect((await anImportedVersion(server())).job.status).toBe("succeeded")
    })

    it("survive an engine that breaks", async () => {
      const broken = await anImportedVersion(server(), { readme: "break" })
      expect(broken.job).toMatchObject({ status: "failed", error: expect.stringContaining("unexpectedly") })
      expect((await anImportedVersion(server())).job.status).toBe("succeeded")
    })
  },
  {
    options: { provisionerDaemons: 2, provisionerForceCancelInterval: Duration.seconds(2) },
    provisioner: Layer.succeed(ProvisionerEngines, [
      {
        ...testEngine,
        open: (source, log) =>
          Effect.map(testEngine.open(source, log), (session) => ({
            ...session,
            parse: Effect.tap(session.parse, ({ readme }) => (readme === "break" ? Effect.dieMessage("a bug") : Effect.void))
          }))
      }
    ])
  }
)

/** Takes a job for a process that will not be heard of again. */
const orphan = (jobId: Uuid.Uuid, tags = untagged) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const repository = yield* ProvisionerJobRepository
    const queue = yield* JobQueueRepository
    const now = yield* Timestamp.now
    const { organization_id } = yield* Effect.flatMap(repository.byId(jobId), Effect.orDie)
    const taken = yield* queue.acquire({
      organization_id,
      provisioners: ["echo"],
      tags,
      worker_id: yield* ids.next,
      claim_id: yield* ids.next,
      now,
      lease_expires_at: Timestamp.plus(now, leaseDuration)
    })
    expect(Option.map(taken, ({ id }) => id)).toStrictEqual(Option.some(jobId))
  })

describe("two servers on one database", () => {
  /** What `before` does is done before the second server starts. */
  const withTwo = async <A>(
    before: (first: TestServer) => Promise<A>,
    test: (first: TestServer, second: TestServer, made: A) => Promise<void>
  ): Promise<void> => {
    const scope = await Effect.runPromise(Scope.make())
    try {
      const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
      const storage = Layer.suspend(() => Postgres.layer({ url, maxConnections: 4 }))
      const first = await startServer(storage, { provisioner: testEngines })
      const made = await before(first)
      const second = await startServer(storage, { provisioner: testEngines, empty: true })
      try {
        await test(first, second, made)
      } finally {
        await second.close()
        await first.close().catch(() => undefined)
      }
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }

  it("run each job once, whichever of them it was posted to", () =>
    withTwo(nothing, async (first, second) => {
      const versions = await Promise.all(Array.from({ length: 12 }, () => aVersion(first, { logs: ["once"] })))
      for (const { job } of versions) await ended(second, job)
      for (const { id, job } of versions) {
        expect((await getVersion(first, id)).job.status).toBe("succeeded")
        const rows = await first.run(Effect.flatMap(ProvisionerJobs, ({ logs }) => Stream.runCollect(logs(job.id, 0))))
        expect([...rows].filter(({ stage }) => stage === "Setting up").length).toBe(1)
      }
    }))

  const nothing = async (): Promise<void> => undefined

  const aHangingJob = async (first: TestServer) => {
    const { job } = await aVersion(first, { hangs: "plan" })
    await started(first, job.id)
    return job
  }

  it("take over jobs that the other returns when it stops", () =>
    withTwo(aHangingJob, async (first, second, job) => {
      const stopping = first.close()
      // Started twice: by the first server, and by the second when it was given back
      await second.run(
        Effect.flatMap(ProvisionerJobs, ({ follow }) =>
          follow(job.id, 0).pipe(
            Stream.filter(({ stage }) => stage === "Setting up"),
            Stream.take(2),
            Stream.runDrain
          )
        )
      )
      await stopping
      expect((await jobOf(second, job.id)).started_at).not.toBeNull()
    }))

  it("notice when the other has died, and queue its job again", () =>
    withTwo(nothing, async (first, second) => {
      // No daemon has the tag but one that is dead
      const tags = { ...untagged, dead: "yes" }
      const { id, job } = await aVersion(first, {}, { tags })
      await first.run(orphan(job.id, tags))
      const watch = await second.run(leaseWatch)
      await second.run(watch.run)
      // A server waits for as long as a lease lasts before it judges others by theirs
      for (let looks = Math.ceil(Duration.toMillis(leaseDuration) / Duration.toMillis(watch.every)); looks > 0; looks--) {
        expect((await getVersion(first, id)).job.status).toBe("running")
        second.advance(watch.every)
        await second.run(watch.run)
      }
      expect((await getVersion(first, id)).job.status).toBe("pending")
    }))
})

describe("a server that comes back on its own store", () => {
  it("runs at once the jobs that were unfinished when it was killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "atelier-daemons-"))
    const storage = Layer.suspend(() => sqliteIn(folder))
    try {
      const before = await startServer(storage, {
        provisioner: testEngines,
        options: { provisionerDaemons: 0 }
      })
      const { id, job } = await aVersion(before)
      const { token } = before.owner()
      await before.run(orphan(job.id))
      await before.close()
      const after = await startServer(storage, { provisioner: testEngines, empty: true })
      await ended(after, job)
      const version = await after.call("GET", `/templateversions/${id}`, { token })
      expect(version.body).toMatchObject({ job: { status: "succeeded" } })
      await after.close()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
