/** What holds of jobs and their claims. */
import { jobIs } from "../provisioning/JobStatus.js"
import { type Invariant, noRows } from "./Invariant.js"

export const jobInvariants: ReadonlyArray<Invariant> = [
  noRows(
    "ended-jobs-are-released",
    "A job that has ended has no worker's claim.",
    (sql) => sql`SELECT j.id AS job, j.claim_id AS claim FROM provisioner_jobs j
      WHERE j.completed_at IS NOT NULL AND (j.claim_id IS NOT NULL OR j.lease_expires_at IS NOT NULL)`
  ),
  noRows(
    "claimed-jobs-run",
    "A job with a claim has begun and not ended, and a lease limits the claim.",
    (sql) => sql`SELECT j.id AS job FROM provisioner_jobs j
      WHERE j.claim_id IS NOT NULL AND (j.started_at IS NULL OR j.completed_at IS NOT NULL OR j.worker_id IS NULL OR j.lease_expires_at IS NULL)`
  ),
  noRows(
    "waiting-jobs-have-no-worker",
    "A job that waits belongs to no worker.",
    (sql) => sql`SELECT j.id AS job, j.worker_id AS worker FROM provisioner_jobs j
      WHERE ${sql.literal(jobIs("pending", "j"))} AND (j.worker_id IS NOT NULL OR j.claim_id IS NOT NULL)`
  ),
  noRows(
    "failed-jobs-have-ended",
    "A job with an error has ended.",
    (sql) => sql`SELECT j.id AS job FROM provisioner_jobs j WHERE j.error <> '' AND j.completed_at IS NULL`
  )
]
