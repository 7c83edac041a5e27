import { Context, type Effect, type Option } from "effect"
import type { JobLog, NewJobLog } from "./JobLog.js"
import type { ProvisionerJobId } from "../jobs/ProvisionerJob.js"

/** The logs of jobs. */
export class JobLogRepository extends Context.Tag("@atelier/core/JobLogRepository")<
  JobLogRepository,
  {
    /** Stores rows in their order and answers the smallest new id; the job's length and overflow are written with them. */
    readonly append: (
      id: ProvisionerJobId,
      rows: ReadonlyArray<NewJobLog>,
      length: number,
      overflowed: boolean
    ) => Effect.Effect<Option.Option<number>>
    /** Rows with ids larger than `after`, oldest first. At most `limit`. */
    readonly after: (id: ProvisionerJobId, after: number, limit: number) => Effect.Effect<ReadonlyArray<JobLog>>
    /** The stage of the last row. */
    readonly lastStage: (id: ProvisionerJobId) => Effect.Effect<Option.Option<string>>
  }
>() {}
