import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

/** How long an engine took for a part of a job. workspaces.md §4.6. */
export const JobTiming = Schema.Struct({
  job_id: Uuid,
  started_at: Timestamp,
  ended_at: Timestamp,
  stage: Schema.Literal("init", "plan", "graph", "apply"),
  /** The engine, or the part of it that did the work. */
  source: Schema.String,
  action: Schema.String,
  /** What the action was done to. */
  resource: Schema.String
})
export interface JobTiming extends Schema.Schema.Type<typeof JobTiming> {}
