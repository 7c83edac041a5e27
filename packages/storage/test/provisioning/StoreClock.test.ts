/** Replicas whose clocks differ: what one stores means the same instant to the other. */
import { Replicas } from "@atelier/core/deployment"
import { StoreClock } from "@atelier/core/platform"
import { ClaimLost, JobClaims, WorkspaceBuildJobs } from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Logger } from "effect"
import { postgres, sqlite } from "../../../../test/store/databases.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../test/records/jobs.js"
import { runtime } from "../../../../test/store/services.js"

const ahead = 20_000

/** The machine's clock, set forward by as much as the test wants. */
const setForward = (millis: () => number): Clock.Clock => {
  const live = Clock.make()
  const now = (): number => live.unsafeCurrentTimeMillis() + millis()
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: now,
    unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(now),
    currentTimeNanos: live.currentTimeNanos,
    sleep: (duration) => live.sleep(duration)
  }
}

const services = Layer.mergeAll(JobClaims.layer, Replicas.layer).pipe(
  Layer.provideMerge(Layer.succeed(WorkspaceBuildJobs, noBuildJobs)),
  Layer.provideMerge(runtime)
)

/** Whether a claim outlives a look at its lease by a replica with another clock. */
const outlives = (other: Clock.Clock) =>
  Effect.gen(function* () {
    const { align } = yield* Replicas
    yield* Effect.withClock(align, other)
    const organization_id = yield* aFreshOrganization
    const daemon = yield* aDaemon({ organization_id })
    yield* aWaitingJob({ organization_id })
    const claims = yield* JobClaims
    const job = yield* Effect.flatten(claims.take(daemon))
    yield* Effect.withClock(claims.expire(job.id), other)
    return yield* Effect.match(claims.renew(job), { onFailure: (error) => !(error instanceof ClaimLost), onSuccess: () => true })
  }).pipe(Effect.withClock(Clock.make()), Effect.provide(Logger.remove(Logger.defaultLogger)))

layer(services.pipe(Layer.provideMerge(postgres)))("a replica on PostgreSQL", (it) => {
  it.effect("whose clock is 20 seconds ahead takes no running job for lost", () =>
    Effect.gen(function* () {
      expect(yield* outlives(setForward(() => ahead))).toBe(false)
      expect(
        yield* outlives(
          StoreClock.make(
            setForward(() => ahead),
            { isOfHost: false }
          )
        )
      ).toBe(true)
      expect(
        yield* outlives(
          StoreClock.make(
            setForward(() => -ahead),
            { isOfHost: false }
          )
        )
      ).toBe(true)
    })
  )

  it.effect("whose clock is set forward while it runs keeps its time", () =>
    Effect.gen(function* () {
      let moved = 0
      const clock = StoreClock.make(
        setForward(() => moved),
        { isOfHost: false }
      )
      yield* Effect.withClock(
        Effect.flatMap(Replicas, ({ align }) => align),
        clock
      )
      const before = clock.unsafeCurrentTimeMillis()
      moved = 3_600_000
      expect(clock.unsafeCurrentTimeMillis() - before).toBeLessThan(60_000)
    })
  )
})

layer(services.pipe(Layer.provideMerge(sqlite)))("a process on SQLite", (it) => {
  it.effect("goes by its own clock", () =>
    Effect.gen(function* () {
      const base = setForward(() => ahead)
      const clock = StoreClock.make(base, { isOfHost: false })
      yield* Effect.withClock(
        Effect.flatMap(Replicas, ({ align }) => align),
        clock
      )
      expect(Math.abs(clock.unsafeCurrentTimeMillis() - base.unsafeCurrentTimeMillis())).toBeLessThan(1_000)
    })
  )
})
