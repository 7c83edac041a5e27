/** The workers on jobs: a fiber of a server, or a process on another machine. templates-and-provisioning.md §7. */
import { Duration, Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { JobStatus, ProvisionerType } from "../jobs/ProvisionerJob.js"
import { ProvisionerTags } from "../queue/ProvisionerTags.js"

export const ProvisionerDaemonId = Uuid
export type ProvisionerDaemonId = Uuid

/** A daemon as it is stored. */
export const ProvisionerDaemon = Schema.Struct({
  id: ProvisionerDaemonId,
  created_at: Timestamp,
  organization_id: Uuid,
  /** At most 64 characters; unique in the organization among daemons with the same owner tag. */
  name: Schema.String,
  /** The kinds of template it can run. */
  provisioners: Schema.Array(ProvisionerType),
  tags: ProvisionerTags,
  /** Of the program. */
  version: Schema.String,
  api_version: Schema.String,
  /** The key it connected with. */
  key_id: Uuid,
  /** Null until it is heard for the first time. */
  last_seen_at: Schema.NullOr(Timestamp)
})
export interface ProvisionerDaemon extends Schema.Schema.Type<typeof ProvisionerDaemon> {}

export const DaemonStatus = Schema.Literal("offline", "idle", "busy")
export type DaemonStatus = typeof DaemonStatus.Type

/** A daemon that was seen within this time counts as alive. §3.3, §6.3. */
export const daemonTimeout = Duration.seconds(90)

/** A daemon with a job is busy, also while it is not heard; without one it is idle or offline. Stores derive the same, to filter by it. §7.1. */
export const daemonStatus = (
  { current_job_id, last_seen_at }: Pick<ProvisionerDaemon, "last_seen_at"> & { readonly current_job_id: Uuid | null },
  aliveSince: Timestamp
): DaemonStatus => {
  if (current_job_id !== null) return "busy"
  return last_seen_at !== null && last_seen_at > aliveSince ? "idle" : "offline"
}

/** The key of daemons that run inside a server. */
export const embeddedKeyId = Uuid.make("00000000-0000-0000-0000-000000000001")

/** The key of daemons that connect with a user's session. */
export const userKeyId = Uuid.make("00000000-0000-0000-0000-000000000002")

/** The key of daemons that connect with the deployment's pre-shared key. */
export const sharedKeyId = Uuid.make("00000000-0000-0000-0000-000000000003")

/** Keys that exist without being made, by id. §7.2. */
export const builtInKeyNames: ReadonlyMap<Uuid, string> = new Map([
  [embeddedKeyId, "built-in"],
  [userKeyId, "user-auth"],
  [sharedKeyId, "psk"]
])

/** The version of the daemon protocol. §8. */
export const provisionerApiVersion = "1.18"

/** A job as the list of daemons shows it. */
export const DaemonJob = Schema.Struct({
  id: Uuid,
  status: JobStatus,
  template_name: Schema.String,
  template_icon: Schema.String,
  template_display_name: Schema.String
})
export interface DaemonJob extends Schema.Schema.Type<typeof DaemonJob> {}

/** A daemon with what it does and did, as readers see it. §7.1. */
export const DaemonView = Schema.Struct({
  ...ProvisionerDaemon.fields,
  last_seen_at: Schema.optional(Timestamp),
  key_name: Schema.String,
  status: DaemonStatus,
  current_job: Schema.NullOr(DaemonJob),
  /** The one it completed last. */
  previous_job: Schema.NullOr(DaemonJob)
})
export interface DaemonView extends Schema.Schema.Type<typeof DaemonView> {}
