/**
 * The seam between jobs and what they build: the provisioning area runs a job of type `workspace_build`, the workspaces area knows what
 * the job needs and what its end means.
 */
import { Context, type Effect, type Stream } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ClaimLost } from "../queue/JobEnding.js"
import type { JobTiming } from "./JobTiming.js"
import type { JobLogWriter } from "../logs/JobLogWriter.js"
import { type Applied, type Plan, type PlanInput, ProvisionFailure, type RunningWorkspace } from "../engines/ProvisionerEngine.js"

/** How a build's job ended without success. */
export type BuildFailure = Pick<ProvisionFailure, "message" | "code" | "state">

/** The judgement on the cost of a build. */
export interface Charge {
  readonly isAffordable: boolean
  /** Of this build, in credits a day. */
  readonly cost: number
  /** Of the owner's workspaces, this build included if it is affordable. */
  readonly consumed: number
  /** -1 without a limit. */
  readonly budget: number
}

/** The stage of a build's log in which its cost is charged. */
export const quotaStage = "Commit quota"

/** Ends a build that its owner cannot afford. */
export const insufficientQuota = () => new ProvisionFailure({ code: "INSUFFICIENT_QUOTA", message: "insufficient quota" })

/** The lines of `quotaStage` that tell the log of a build about its cost. */
export const chargeLines = ({ budget, consumed, cost }: Charge): ReadonlyArray<string> => [
  `Build cost: ${cost}`,
  `Budget: ${budget}`,
  `Credits consumed: ${consumed}`
]

/** The work on a job, as its worker exposes it to other services. */
export interface JobWork extends Pick<JobLogWriter, "announce"> {
  /** Tells what the build costs its owner. */
  readonly charged: (charge: Charge) => Effect.Effect<void>
  /** Runs writes in a transaction that first locks the job. Fails with `ClaimLost`, nothing written, if another worker has the job. */
  readonly store: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ClaimLost, R | EventBus | Transactor>
}

export class WorkspaceBuildJobs extends Context.Tag("@atelier/core/WorkspaceBuildJobs")<
  WorkspaceBuildJobs,
  {
    /** A worker has acquired the build's job: what the engine plans and applies. Failing fails the job with the error's message. */
    readonly prepare: (buildId: Uuid) => Effect.Effect<PlanInput, ServiceError>
    /** The engine has planned the build, which may happen more than once. Failing fails the job. workspaces.md §4.5. */
    readonly planned: (buildId: Uuid, plan: Plan, work: JobWork) => Effect.Effect<void, ProvisionFailure | ClaimLost>
    /**
     * The job succeeded. Runs in the transaction that completes the job; failing undoes it and fails the job with the error's message.
     * workspaces.md §4.5.
     */
    readonly succeeded: (
      buildId: Uuid,
      plan: Plan,
      applied: Applied,
      timings: ReadonlyArray<JobTiming>
    ) => Effect.Effect<void, ServiceError>
    /** The job failed, was canceled, or was given up by the reaper. Runs in the transaction that ends the job. */
    readonly ended: (buildId: Uuid, failure: BuildFailure) => Effect.Effect<void>
    /** The job's state changed in another way: tell who watches the workspace. Runs after the change. */
    readonly changed: (buildId: Uuid) => Effect.Effect<void>
    /** Every workspace whose latest build is a start that succeeded: what engines of this machine recover when the server starts. */
    readonly running: Stream.Stream<RunningWorkspace>
    /** The workspaces among these that engines may not touch: all but those that are deleted and whose builds have ended. */
    readonly existing: (workspaceIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlySet<Uuid>>
    /** The builds among these that have ended without success: nothing that they have started may go on. */
    readonly unsuccessful: (buildIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlySet<Uuid>>
  }
>() {}
