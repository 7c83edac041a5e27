/** Jobs of a replica that has died: other replicas need not wait for the ends of their leases. */
import { ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { Locks, Timestamp, Uuid } from "@atelier/core/platform"
import { JobClaims, leaseWatch, ProvisionerJobRepository, WorkspaceBuildJobs } from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { type Duration, Effect, Layer, TestClock } from "effect"
import { postgres } from "../../../../test/store/databases.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../test/records/jobs.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const services = Layer.mergeAll(JobClaims.layer, Replicas.layer).pipe(
  Layer.provideMerge(Layer.succeed(WorkspaceBuildJobs, noBuildJobs)),
  Layer.provideMerge(Layer.merge(postgres, runtime))
)

/** A job that a replica runs which has told of itself some time ago, and has renewed its claim some time ago. */
const aJobOf = (silence: Duration.DurationInput, unrenewed: Duration.DurationInput = "7 seconds") =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const replica = Uuid.Uuid.make(globalThis.crypto.randomUUID())
    const now = yield* Timestamp.now
    yield* (yield* ReplicaRepository).put({
      id: replica,
      hostname: "other",
      created_at: now,
      relay_address: "",
      region_id: 0,
      error: "",
      database_latency: 0,
      updated_at: Timestamp.minus(now, silence)
    })
    const organization_id = yield* aFreshOrganization
    const daemon = yield* aDaemon({ organization_id })
    yield* sql`UPDATE provisioner_daemons SET process_id = ${replica} WHERE id = ${daemon.id}`
    yield* aWaitingJob({ organization_id })
    const job = yield* Effect.flatten((yield* JobClaims).take(daemon))
    yield* sql`UPDATE provisioner_jobs SET lease_expires_at = ${Timestamp.minus(Timestamp.plus(now, "15 seconds"), unrenewed)} WHERE id = ${job.id}`
    const isRunning = Effect.gen(function* () {
      const [row] = yield* (yield* ProvisionerJobRepository).byIds([job.id])
      return row?.started_at !== null
    })
    return { replica, isRunning }
  })

layer(services)("jobs of replicas on PostgreSQL", (it) => {
  it.effect("are taken over at once when their replica is known to be dead", () =>
    Effect.gen(function* () {
      const { run } = yield* leaseWatch
      const [silent, alive, locked] = [yield* aJobOf("4 seconds"), yield* aJobOf("1 second"), yield* aJobOf("4 seconds")]
      const { tryWith } = yield* Locks
      yield* tryWith(`replica:${locked.replica}`, run)
      expect([yield* silent.isRunning, yield* alive.isRunning, yield* locked.isRunning]).toStrictEqual([false, true, true])
      // The connections of its agents count no more
      const others = (yield* (yield* Replicas).others).map(({ id }) => id)
      expect(others).not.toContain(silent.replica)
      expect(others).toContain(locked.replica)
      yield* run
      expect(yield* locked.isRunning).toBe(false)
    })
  )

  it.effect("are taken over from a silent replica after three beats, though it holds its lock", () =>
    Effect.gen(function* () {
      const { run } = yield* leaseWatch
      const hung = yield* aJobOf("7 seconds")
      yield* (yield* Locks).tryWith(`replica:${hung.replica}`, run)
      expect(yield* hung.isRunning).toBe(false)
    })
  )

  // Last: the clock that it moves is that of all
  it.effect("are left to their replica until its workers have stopped", () =>
    Effect.gen(function* () {
      const { run } = yield* leaseWatch
      const cutOff = yield* aJobOf("7 seconds", "1 second")
      yield* run
      yield* TestClock.adjust("5 seconds")
      yield* run
      expect(yield* cutOff.isRunning).toBe(true)
      yield* TestClock.adjust("1 second")
      yield* run
      expect(yield* cutOff.isRunning).toBe(false)
    })
  )
})
