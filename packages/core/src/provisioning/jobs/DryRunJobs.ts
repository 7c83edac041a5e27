/**
 * The seam between jobs and trial runs: the provisioning area runs a job of type `template_version_dry_run`, the templates area knows what a
 * trial run asks of the engine, and what is stored of the answer.
 */
import { Context, type Effect } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import type { ProvisionerSession, ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ProvisionerJob } from "./ProvisionerJob.js"

export class DryRunJobs extends Context.Tag("@atelier/core/DryRunJobs")<
  DryRunJobs,
  {
    /** Plans a start of the job's version. Returns the writes for the transaction that completes the job; an error fails the job. */
    readonly run: (
      job: Pick<ProvisionerJob, "id" | "initiator_id" | "input">,
      session: Pick<ProvisionerSession, "plan">,
      announce: (stage: string) => Effect.Effect<void>
    ) => Effect.Effect<Effect.Effect<void, ServiceError, EventBus | Transactor>, ProvisionFailure>
  }
>() {}
