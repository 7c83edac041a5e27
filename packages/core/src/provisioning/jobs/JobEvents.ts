/** Events of jobs. templates-and-provisioning.md §6.4, §6.6. */
import { Schema } from "effect"
import { type Channel, channel, channelsOf } from "../../platform/events/EventBus.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { ProvisionerType } from "./ProvisionerJob.js"
import { ProvisionerTags } from "../queue/ProvisionerTags.js"

/** `type` is the provisioner that the job asks for. */
export const JobPosted = Schema.Struct({ organization_id: Uuid, type: ProvisionerType, tags: ProvisionerTags })
export interface JobPosted extends Schema.Schema.Type<typeof JobPosted> {}

/** A job waits for a daemon. */
export const jobPosted: Channel<JobPosted> = channel("provisioner_job_posted", JobPosted)

/** Rows with larger ids than `created_after` were stored, or nothing more will be. */
export const LogsChanged = Schema.Union(
  Schema.Struct({ created_after: Schema.Number }),
  Schema.Struct({ end_of_logs: Schema.Literal(true) })
)
export type LogsChanged = typeof LogsChanged.Type

/** The log of one job. */
export const jobLogs: (jobId: Uuid) => Channel<LogsChanged> = channelsOf("provisioner-log-logs", LogsChanged)

/** The job was canceled: its worker stops at once instead of at its next heartbeat. */
export const jobCanceled: (jobId: Uuid) => Channel<{}> = channelsOf("provisioner_job_canceled", Schema.Struct({}))
