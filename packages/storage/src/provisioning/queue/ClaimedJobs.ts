import type { JobQueueRepository } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { nullable, row, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, run } from "../../platform/Statement.js"
import { jobIs } from "../JobStatus.js"
import type { Statements } from "../../platform/Statements.js"
const identified = row({ id: uuid })
const claimed = row({ id: uuid, claim_id: uuid })
const cancellation = row({ canceled_at: nullable(timestamp) })

/** Jobs whose work goes on, or should. */
export const claimedJobs = (
  sql: Statements
): Pick<
  JobQueueRepository["Type"],
  | "renew"
  | "forbidRepeating"
  | "discountAttempt"
  | "withExpiredLease"
  | "claimsOf"
  | "untouched"
  | "waitingSilently"
  | "endLeases"
  | "shortenLeases"
> => {
  const dialect = dialectOf(sql)
  const isWaiting = sql.literal(jobIs("pending"))

  return {
    renew: (id, claimId, now, leaseExpiresAt) =>
      first(
        cancellation,
        sql`UPDATE provisioner_jobs SET updated_at = ${now}, lease_expires_at = ${leaseExpiresAt}
            WHERE id = ${id} AND claim_id = ${claimId} AND completed_at IS NULL RETURNING canceled_at`
      ),
    forbidRepeating: (id, claimId, now) =>
      applied(
        sql`UPDATE provisioner_jobs SET unrepeatable = ${dialect.boolean(true)}, updated_at = ${now}
            WHERE id = ${id} AND claim_id = ${claimId} AND completed_at IS NULL RETURNING id`
      ),
    discountAttempt: (id) => run(sql`UPDATE provisioner_jobs SET attempts = attempts - 1 WHERE id = ${id}`),
    withExpiredLease: (now, limit) =>
      Effect.map(
        all(
          identified,
          sql`SELECT id FROM provisioner_jobs WHERE completed_at IS NULL AND lease_expires_at IS NOT NULL AND lease_expires_at <= ${now}
              ORDER BY lease_expires_at LIMIT ${limit}`
        ),
        (rows) => rows.map(({ id }) => id)
      ),
    claimsOf: (processId, limit) =>
      all(
        claimed,
        sql`SELECT j.id, j.claim_id FROM provisioner_daemons d JOIN provisioner_jobs j ON j.worker_id = d.id
            WHERE d.process_id = ${processId} AND j.completed_at IS NULL AND j.claim_id IS NOT NULL AND j.lease_expires_at IS NOT NULL
            ORDER BY j.id LIMIT ${limit}`
      ),
    untouched: (pendingSince, runningSince, limit) =>
      Effect.map(
        all(
          identified,
          sql`SELECT id FROM provisioner_jobs
              WHERE completed_at IS NULL AND updated_at < ${runningSince} AND (started_at IS NOT NULL OR updated_at < ${pendingSince})
              ORDER BY random() LIMIT ${limit}`
        ),
        (rows) => rows.map(({ id }) => id)
      ),
    waitingSilently: (createdBefore, limit) =>
      Effect.map(
        all(
          identified,
          sql`SELECT id FROM provisioner_jobs WHERE ${isWaiting} AND created_at <= ${createdBefore} AND logs_length = 0
              ORDER BY random() LIMIT ${limit}`
        ),
        (rows) => rows.map(({ id }) => id)
      ),
    shortenLeases: (end) =>
      run(sql`UPDATE provisioner_jobs SET lease_expires_at = ${end} WHERE completed_at IS NULL AND lease_expires_at > ${end}`),
    endLeases: (now) =>
      run(sql`UPDATE provisioner_jobs SET lease_expires_at = ${now} WHERE completed_at IS NULL AND lease_expires_at IS NOT NULL`)
  }
}
