/** Ends jobs that no worker is handling. templates-and-provisioning.md §6.7. */
import { Duration, Effect, Option } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Replicas } from "../../deployment/Replicas.js"
import * as Background from "../../platform/background/Background.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { JobClaims } from "./JobClaims.js"
import { leaseDuration } from "./JobTaking.js"
import { JobQueueRepository } from "./JobQueueRepository.js"
import { ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"

/** Without a sign of life for so long, a job counts as forgotten. */
const pendingLimit = Duration.minutes(30)
const runningLimit = Duration.minutes(5)

/**
 * Tells of each look of a worker whether it may judge others by their silence. After a time without looks the store may have been away, so
 * the others first have `settling` to be heard; after the worker's start too, unless it has the store to itself, and once the clock was set back.
 */
const makeSettled = (options: { readonly every: Duration.Duration; readonly settling: Duration.Duration; readonly isAlone: boolean }) => {
  const gap = Duration.times(options.every, 3)
  let lastLook: Timestamp.Timestamp | undefined
  let settledAt: Timestamp.Timestamp | undefined
  return (now: Timestamp.Timestamp): boolean => {
    const isAfterGap = lastLook === undefined ? !options.isAlone : lastLook < Timestamp.minus(now, gap) || lastLook > now
    if (isAfterGap) settledAt = Timestamp.plus(now, options.settling)
    lastLook = now
    return settledAt === undefined || now >= settledAt
  }
}

/** How long jobs that waited for the store have to be taken or renewed before the reaper counts their silence. */
const reaperSettling = Duration.minutes(1)

/** Jobs of one run. */
const batch = 10

/** How long one run may take. A statement that is not answered is left after that: the next run asks another one. */
const runLimit = Duration.minutes(5)

/** Fails jobs that waited or ran for too long without a sign of life. Runs each `jobHangDetectorInterval`. */
export const jobReaper = Effect.map(DeploymentOptions, ({ jobHangDetectorInterval }) => {
  const isSettled = makeSettled({ every: jobHangDetectorInterval, settling: reaperSettling, isAlone: false })
  const run = Effect.gen(function* () {
    const claims = yield* JobClaims
    const repository = yield* ProvisionerJobRepository
    const queue = yield* JobQueueRepository
    const now = yield* Timestamp.now
    const pendingSince = Timestamp.minus(now, pendingLimit)
    const runningSince = Timestamp.minus(now, runningLimit)
    const ids = yield* queue.untouched(pendingSince, runningSince, batch)
    if (!isSettled(now)) return
    const jobs = ids.length === 0 ? [] : yield* repository.byIds(ids)
    yield* Background.each("job_reaper", jobs, ({ id, started_at }) => {
      const isPending = started_at === null
      const minutes = Duration.toMinutes(isPending ? pendingLimit : runningLimit)
      const reason = `The job was ${isPending ? "pending" : "hung"} for ${minutes} minutes and has been terminated by the reaper.`
      return claims.reap(id, isPending ? pendingSince : runningSince, reason)
    })
  }).pipe(
    Background.leftAfter(runLimit),
    Effect.flatMap((ended) => (Option.isSome(ended) ? Effect.void : Effect.logWarning("the reaper of jobs ran for too long")))
  )
  return { name: "job_reaper", every: jobHangDetectorInterval, run }
})

/** Jobs of one look. */
const leaseBatch = 50

/** How often leases are looked at: often, because users wait for the jobs. */
const lookInterval = Duration.seconds(2)

/**
 * Returns what ends the claims of servers that count as dead, before their leases end. The workers of one that lives without its store first have to stop, so
 * its claims are looked at again until then.
 */
const makeTaking = (queue: JobQueueRepository["Type"]) => {
  /** Servers that were found dead, with the times until which their claims are looked at. Then the leases have ended. */
  const found = new Map<Uuid, Timestamp.Timestamp>()
  return Effect.gen(function* () {
    const claims = yield* JobClaims
    const replicas = yield* Replicas
    yield* Background.each("dead_replicas", yield* replicas.dead, (dead) =>
      Effect.gen(function* () {
        found.set(dead.id, Timestamp.plus(yield* Timestamp.now, leaseDuration))
        yield* replicas.missed(dead)
      })
    )
    const now = yield* Timestamp.now
    for (const [id, until] of found) if (until < now) found.delete(id)
    yield* Background.each("dead_replicas", [...found.keys()], (id) =>
      Effect.gen(function* () {
        const held = yield* queue.claimsOf(id, leaseBatch)
        yield* Background.each("job_leases", held, (claim) => claims.expire(claim.id, claim.claim_id))
        if (held.length === 0) found.delete(id)
      })
    )
  })
}

/** Deals with jobs whose server died. */
export const leaseWatch = Effect.map(JobQueueRepository, (queue) => {
  const isSettled = makeSettled({ every: lookInterval, settling: leaseDuration, isAlone: !queue.isShared })
  const takeFromDead = makeTaking(queue)
  /** When this worker last looked: undefined before its first look. */
  let lookedAt: Timestamp.Timestamp | undefined
  const run = Effect.gen(function* () {
    const claims = yield* JobClaims
    if (queue.isShared) yield* takeFromDead
    const now = yield* Timestamp.now
    // Leases that were given before the clock was set back would last as much longer
    if (lookedAt === undefined || lookedAt > now) yield* queue.shortenLeases(Timestamp.plus(now, leaseDuration))
    lookedAt = now
    const ids = yield* queue.withExpiredLease(now, leaseBatch)
    if (isSettled(now)) yield* Background.each("job_leases", ids, (id) => claims.expire(id))
  })
  return { name: "job_leases", every: lookInterval, run }
})
