import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { ResourceMetadata } from "../../provisioning/engines/ProvisionedResource.js"

/** Something a job's engine made, or would make: a machine, a disk, a network. Agents run in some of them. */
export const WorkspaceResource = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  job_id: Uuid,
  transition: BuildTransition,
  type: Schema.String,
  name: Schema.String,
  hide: Schema.Boolean,
  icon: Schema.String,
  instance_type: Schema.String,
  /** Quota units. */
  daily_cost: Schema.Number,
  module_path: Schema.String,
  metadata: Schema.Array(ResourceMetadata)
})
export interface WorkspaceResource extends Schema.Schema.Type<typeof WorkspaceResource> {}
