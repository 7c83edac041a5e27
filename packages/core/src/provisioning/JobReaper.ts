/** Ends jobs that nobody works on. templates-and-provisioning.md §6.7. */
import { Duration, Effect } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import * as Timestamp from "../platform/Timestamp.js"
import { JobClaims } from "./JobClaims.js"
import { ProvisionerJobRepository } from "./ProvisionerJobRepository.js"

/** Without a sign of life for so long, a job counts as forgotten. */
const pendingLimit = Duration.minutes(30)
const runningLimit = Duration.minutes(5)

/** Jobs of one run. */
const batch = 10

/** How long one run may take. */
const runLimit = Duration.minutes(5)

/** Fails jobs that waited or ran for too long without a sign of life. Runs each `job_hang_detector_interval`. */
export const jobReaper = Effect.map(DeploymentOptions, ({ job_hang_detector_interval }) => ({
  name: "job_reaper",
  every: job_hang_detector_interval,
  run: Effect.gen(function* () {
    const claims = yield* JobClaims
    const repository = yield* ProvisionerJobRepository
    const now = yield* Timestamp.now
    const pendingSince = Timestamp.minus(now, pendingLimit)
    const runningSince = Timestamp.minus(now, runningLimit)
    const ids = yield* repository.untouched(pendingSince, runningSince, batch)
    const jobs = ids.length === 0 ? [] : yield* repository.byIds(ids)
    yield* Effect.forEach(
      jobs,
      ({ id, started_at }) => {
        const isPending = started_at === null
        const minutes = Duration.toMinutes(isPending ? pendingLimit : runningLimit)
        const reason = `The job was ${isPending ? "pending" : "hung"} for ${minutes} minutes and has been terminated by the reaper.`
        return claims.reap(id, isPending ? pendingSince : runningSince, reason)
      },
      { discard: true }
    )
  }).pipe(
    Effect.timeout(runLimit),
    Effect.catchTag("TimeoutException", () => Effect.logWarning("the reaper of jobs ran for too long"))
  )
}))

/** Jobs of one look. */
const leaseBatch = 50

/** Deals with jobs whose server died: looks often, because their users wait. */
export const leaseWatch = {
  name: "job_leases",
  every: Duration.seconds(5),
  run: Effect.gen(function* () {
    const claims = yield* JobClaims
    const repository = yield* ProvisionerJobRepository
    const ids = yield* repository.withExpiredLease(yield* Timestamp.now, leaseBatch)
    yield* Effect.forEach(ids, (id) => claims.expire(id), { discard: true })
  })
}
