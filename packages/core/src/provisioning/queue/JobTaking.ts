import { Data, Duration, Effect, Either, Option } from "effect"
import type { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction } from "../../platform/store/Transactor.js"
import { jobPosted } from "../jobs/JobEvents.js"
import type { FileId } from "../files/File.js"
import type { JobQueueRepository, TakenJob } from "./JobQueueRepository.js"
import type { ProvisionerDaemon } from "../daemons/ProvisionerDaemon.js"
import type { ClaimedJob } from "../jobs/ProvisionerJobRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { JobEnding } from "./JobEnding.js"
import type { JobSelection } from "./JobClaims.js"

/** How long a claim lasts without a sign of life. */
export const leaseDuration = Duration.seconds(15)

/** A worker that could not renew its claim for so long stops by itself, before others may take the job. */
export const lostAfter = Duration.seconds(5)

/** How long a claim of a process that counts as dead lasts after its last renewal: the process may live, without its store, and its worker stops before. */
export const takenAfter = Duration.seconds(7)

/** The claim is rolled back. */
class NotTaken extends Data.TaggedError("NotTaken")<{ readonly job: ClaimedJob }> {}

/** Jobs that a daemon passes over before it lets others have a turn. */
const maximumSelected = 100

const takenBy =
  (selection: JobSelection) =>
  (job: Option.Option<TakenJob>): Effect.Effect<Option.Option<TakenJob>, NotTaken> =>
    Option.isNone(job) || selection.isTaken(job.value) ? Effect.succeed(job) : new NotTaken({ job: job.value })

interface Needs extends Pick<JobEnding, "told"> {
  readonly queue: JobQueueRepository["Type"]
  readonly ids: Ids["Type"]
}

/** How a waiting job is claimed. */
export const jobTaking = ({ queue, ids, told }: Needs) => {
  const acquire = (daemon: ProvisionerDaemon, except: ReadonlyArray<FileId> = []) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      return yield* queue.acquire({
        organization_id: daemon.organization_id,
        provisioners: daemon.provisioners,
        tags: daemon.tags,
        except,
        worker_id: daemon.id,
        claim_id: yield* ids.next,
        now,
        lease_expires_at: Timestamp.plus(now, leaseDuration)
      })
    })

  return {
    take: Traced.fn("JobClaims.take")(function* (daemon: ProvisionerDaemon) {
      const job = yield* acquire(daemon)
      if (Option.isSome(job)) yield* told(job.value)
      return job
    }),

    takeSelected: Traced.fn("JobClaims.takeSelected")(function* (daemon: ProvisionerDaemon, selection: JobSelection) {
      for (let attempts = 0; attempts < maximumSelected; attempts++) {
        const attempt = yield* Effect.either(transaction(Effect.flatMap(acquire(daemon, yield* selection.left), takenBy(selection))))
        if (Either.isRight(attempt)) {
          if (Option.isSome(attempt.right)) yield* told(attempt.right.value)
          return attempt.right
        }
        const { job } = attempt.left
        const { organization_id, provisioner, tags } = job
        // Others may have passed over the job while it was locked
        if (!(yield* selection.judge(job))) yield* publish(jobPosted, { organization_id, type: provisioner, tags })
      }
      return Option.none()
    })
  }
}
