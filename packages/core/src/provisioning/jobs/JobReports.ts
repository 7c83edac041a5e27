import { Cause, Effect, Option, Schedule } from "effect"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import type { JobClaims } from "../queue/JobClaims.js"
import type { ClaimLost } from "../queue/JobEnding.js"
import type { ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ClaimedJob } from "./ProvisionerJobRepository.js"
import type { BuildFailure } from "./WorkspaceBuildJobs.js"
import type { NewJobLog } from "../logs/JobLog.js"
import { type Run, type Done, asFailure, type Stop } from "./JobRun.js"

/** How often the end of a job is reported to a store that refuses it: over about three seconds. */
const persistence = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(5))

/** A store that is away is asked each second, for up to ten minutes. */
const patience = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("1 second")).pipe(Schedule.upTo("10 minutes"))

const isAway = (cause: Cause.Cause<unknown>): boolean => Option.isSome(storeUnavailable(cause))

/** Reports again while the store fails; for long where it is away, unless the server stops. */
export const persist = <A, E, R>(run: Run, report: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  report.pipe(
    Effect.sandbox,
    Effect.retry({ schedule: persistence, while: (cause) => Cause.isDie(cause) && !isAway(cause) }),
    Effect.retry({ schedule: patience, while: (cause) => isAway(cause) && !run.stopping }),
    Effect.unsandbox
  )

interface Needs {
  readonly claims: JobClaims["Type"]
}

/** The report of a run's end, also while the store is away. */
export const jobReports = ({ claims }: Needs) => {
  const fail = (job: ClaimedJob, run: Run, failure: BuildFailure) => persist(run, claims.fail(job, failure))

  /** Stores rows of the log; an end that is reported must not wait for them where that fails. */
  const log = (job: ClaimedJob, run: Run, rows: ReadonlyArray<NewJobLog>) =>
    rows.length === 0
      ? Effect.void
      : Effect.catchAllCause(persist(run, claims.log(job, rows)), (cause) =>
          Effect.logDebug("the last rows of a job's log were not stored", cause)
        )

  /** `lastRows` are the rows of the log that are not stored yet. */
  const complete = (job: ClaimedJob, run: Run, { state, store }: Done, lastRows: ReadonlyArray<NewJobLog>) =>
    persist(run, claims.complete(job, store, lastRows)).pipe(
      Effect.catchAllCause((cause) =>
        Effect.gen(function* () {
          const refusal = Option.getOrUndefined(Cause.failureOption(cause))
          if (refusal?._tag === "ClaimLost") return yield* refusal
          const away = Option.getOrUndefined(storeUnavailable(cause))
          // The lease ends, and another run makes the same again
          if (away !== undefined) return yield* Effect.die(away)
          if (refusal === undefined) yield* Effect.logError("the result of a job could not be stored", cause)
          yield* log(job, run, lastRows)
          const message = refusal === undefined ? "What the job made could not be stored." : asFailure(refusal).message
          yield* fail(job, run, { message, state })
        })
      )
    )

  /** The end of a job whose work ended without anything to store. */
  const abandon = (job: ClaimedJob, run: Run, cause: Cause.Cause<ProvisionFailure | ClaimLost>, stop: Stop | undefined) =>
    Effect.gen(function* () {
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      if (failure !== undefined) return yield* failure._tag === "ClaimLost" ? failure : fail(job, run, failure)
      if (stop === "canceled" && Cause.isInterruptedOnly(cause)) return yield* persist(run, claims.acknowledgeCancel(job))
      // Work that ends by itself without a result has lost its daemon
      if (Cause.isInterruptedOnly(cause) || isAway(cause)) {
        const reason = {
          repeatable: run.repeatable,
          cause: stop === "stopping" ? "stopping" : stop === undefined ? "daemon" : "store"
        } as const
        return yield* persist(run, claims.giveBack(job, reason))
      }
      yield* Effect.logError("a provisioner failed unexpectedly", cause)
      yield* fail(job, run, { message: "The provisioner failed unexpectedly; the server's log has the reason." })
    })

  return { log, fail, complete, abandon }
}
