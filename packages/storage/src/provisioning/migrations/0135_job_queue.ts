import { prebuildsUserId } from "@atelier/core/access"
import { ddl } from "../../platform/Schema.js"

/**
 * The queue of jobs in the order in which daemons take them, so that taking one costs the same for any number of waiting jobs; whether a
 * job must not be taken again, which its engine decides; and the process that runs a daemon, so that two processes on one host do not share
 * a row.
 */
export default ddl(
  `DROP INDEX provisioner_jobs_waiting`,
  `CREATE INDEX provisioner_jobs_waiting ON provisioner_jobs (organization_id, (initiator_id = '${prebuildsUserId}'), created_at, id)
    WHERE started_at IS NULL AND completed_at IS NULL`,
  `ALTER TABLE provisioner_jobs RENAME COLUMN applying TO unrepeatable`,
  `ALTER TABLE provisioner_daemons ADD COLUMN process_id :uuid`,
  `CREATE INDEX provisioner_daemons_by_process ON provisioner_daemons (process_id)`
)
