import { ddl } from "../../platform/Schema.js"

/** How long engines take for parts of jobs. */
export default ddl(
  `CREATE TABLE provisioner_job_timings (
    job_id :uuid NOT NULL REFERENCES provisioner_jobs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    started_at :timestamp NOT NULL,
    ended_at :timestamp NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('init', 'plan', 'graph', 'apply')),
    source TEXT NOT NULL,
    action TEXT NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (job_id, position)
  )`
)
