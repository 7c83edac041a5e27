import { JobInput, type JobType, ProvisionerTags, type ProvisionerType } from "@atelier/core/provisioning"
import { boolean, json, nullable, number, text, timestamp, uuid } from "../platform/Row.js"

/** The columns of a job that are read wherever one is shown. */
export const columns = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  started_at: nullable(timestamp),
  canceled_at: nullable(timestamp),
  completed_at: nullable(timestamp),
  error: text(),
  error_code: text(),
  organization_id: uuid,
  initiator_id: uuid,
  provisioner: text<ProvisionerType>(),
  type: text<JobType>(),
  file_id: uuid,
  input: json(JobInput),
  tags: json(ProvisionerTags),
  worker_id: nullable(uuid),
  logs_length: number,
  logs_overflowed: boolean
}

/** The columns of a job that background work on it needs. */
export const claimColumns = {
  ...columns,
  claim_id: nullable(uuid),
  lease_expires_at: nullable(timestamp),
  attempts: number,
  unrepeatable: boolean
}
