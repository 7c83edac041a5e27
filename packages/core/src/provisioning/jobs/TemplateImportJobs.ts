/**
 * The seam between jobs and templates: the provisioning area runs a job of type `template_version_import`, the templates area knows what
 * an import asks of the engine, and what is stored of the answers.
 */
import { Context, type Effect } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import type { ProvisionFailure } from "../engines/ProvisionerEngine.js"
import type { ProvisionerJob } from "./ProvisionerJob.js"
import type { OpenSource } from "../engines/TemplateSources.js"

/** How the job hears of the import while it runs. */
export interface ImportProgress<E, R> {
  readonly announce: (stage: string) => Effect.Effect<void>
  /** Writes in a transaction. Fails if another worker has the job. */
  readonly store: (write: Effect.Effect<void>) => Effect.Effect<void, E, R>
}

export class TemplateImportJobs extends Context.Tag("@atelier/core/TemplateImportJobs")<
  TemplateImportJobs,
  {
    /** Reads the source of the job's version. Returns the writes for the transaction that completes the job; an error fails the job. */
    readonly run: <E, R>(
      job: Pick<ProvisionerJob, "input">,
      session: OpenSource,
      progress: ImportProgress<E, R>
    ) => Effect.Effect<Effect.Effect<void, ServiceError, EventBus | Transactor>, ProvisionFailure | E, R>
  }
>() {}
