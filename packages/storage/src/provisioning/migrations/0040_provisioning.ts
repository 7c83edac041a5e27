import { ddl } from "../../platform/Schema.js"

/** Files, provisioner jobs with their logs, and the daemons that take jobs. */
export default ddl(
  `CREATE TABLE files (
    id :uuid PRIMARY KEY,
    hash TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    created_by :uuid NOT NULL,
    mimetype TEXT NOT NULL,
    size :bigint NOT NULL
  )`,
  `CREATE UNIQUE INDEX files_hash_created_by ON files (hash, created_by)`,
  `CREATE TABLE file_chunks (
    file_id :uuid NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    data :bytes NOT NULL,
    PRIMARY KEY (file_id, number)
  )`,
  `CREATE TABLE provisioner_jobs (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    started_at :timestamp,
    canceled_at :timestamp,
    completed_at :timestamp,
    error TEXT NOT NULL,
    error_code TEXT NOT NULL,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    initiator_id :uuid NOT NULL,
    provisioner TEXT NOT NULL,
    type TEXT NOT NULL,
    file_id :uuid NOT NULL,
    input :json NOT NULL,
    tags :json NOT NULL,
    worker_id :uuid,
    claim_id :uuid,
    lease_expires_at :timestamp,
    attempts INTEGER NOT NULL,
    applying :boolean NOT NULL,
    logs_length INTEGER NOT NULL,
    logs_overflowed :boolean NOT NULL
  )`,
  `CREATE INDEX provisioner_jobs_waiting ON provisioner_jobs (organization_id, created_at, id) WHERE started_at IS NULL AND completed_at IS NULL`,
  `CREATE INDEX provisioner_jobs_active ON provisioner_jobs (updated_at) WHERE completed_at IS NULL`,
  `CREATE INDEX provisioner_jobs_leased ON provisioner_jobs (lease_expires_at) WHERE completed_at IS NULL AND lease_expires_at IS NOT NULL`,
  `CREATE INDEX provisioner_jobs_by_organization ON provisioner_jobs (organization_id, created_at, id)`,
  `CREATE INDEX provisioner_jobs_by_initiator ON provisioner_jobs (organization_id, initiator_id, created_at, id)`,
  `CREATE INDEX provisioner_jobs_by_worker ON provisioner_jobs (worker_id, completed_at)`,
  `CREATE INDEX provisioner_jobs_by_file ON provisioner_jobs (file_id)`,
  `CREATE TABLE provisioner_job_logs (
    id :serial,
    job_id :uuid NOT NULL REFERENCES provisioner_jobs (id) ON DELETE CASCADE,
    created_at :timestamp NOT NULL,
    log_source TEXT NOT NULL,
    log_level TEXT NOT NULL,
    stage TEXT NOT NULL,
    output TEXT NOT NULL
  )`,
  `CREATE INDEX provisioner_job_logs_by_job ON provisioner_job_logs (job_id, id)`,
  `CREATE TABLE provisioner_daemons (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    provisioners :json NOT NULL,
    tags :json NOT NULL,
    version TEXT NOT NULL,
    api_version TEXT NOT NULL,
    key_id :uuid NOT NULL,
    last_seen_at :timestamp
  )`,
  `CREATE UNIQUE INDEX provisioner_daemons_organization_id_name_owner ON provisioner_daemons (organization_id, name, owner)`,
  `CREATE INDEX provisioner_daemons_by_last_seen ON provisioner_daemons (last_seen_at)`
)
