import { prebuildsUserId } from "@atelier/core/access"
import { JobQueueRepository } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { columnList, nullable, number, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { all, first, one } from "../../platform/Statement.js"
import { claimColumns } from "../columns.js"
import { jobIs } from "../JobStatus.js"
import { tagsContained, tagsValue } from "./Tags.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"
import { claimedJobs } from "./ClaimedJobs.js"

const takenJob = row({ ...claimColumns, initiator_username: text() })
const place = row({ id: uuid, queue_position: number, queue_size: number })
const counted = row({ count: number })
const worker = row({ job_id: uuid, daemon_id: uuid, engines: nullable(texts) })
const matched = row({ job_id: uuid, count: number, available: number, most_recently_seen: nullable(timestamp) })

export const layer = service(
  JobQueueRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const dialect = dialectOf(sql)

    const claimSelected = sql.literal(columnList(claimColumns))
    const isWaiting = sql.literal(jobIs("pending"))
    // Written out, not bound: only so do the databases see that it is the order of the index
    const isPrebuild = sql.literal(`(initiator_id = '${prebuildsUserId}')`)
    const queueOrder = sql`${isPrebuild}, created_at, id`
    const skippingLocked = locking(sql, "FOR UPDATE SKIP LOCKED")
    const hasProvisioner = sql.dialect({
      postgres: () => sql`d.provisioners @> to_jsonb(j.provisioner)`,
      sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(d.provisioners) WHERE value = j.provisioner)`
    })
    const daemonTakesJob = tagsContained(sql, sql`d.tags`, sql`j.tags`)

    return JobQueueRepository.of({
      ...claimedJobs(sql),
      queuePlaces: (ids, seenSince) =>
        all(
          place,
          sql`WITH daemon_tags AS (SELECT DISTINCT tags FROM provisioner_daemons WHERE last_seen_at > ${seenSince}),
            waiting AS (SELECT id, tags, initiator_id, created_at FROM provisioner_jobs WHERE ${isWaiting}),
            ranked AS (
              SELECT j.id,
                row_number() OVER (PARTITION BY d.tags ORDER BY (j.initiator_id = ${prebuildsUserId}), j.created_at, j.id) AS place,
                count(*) OVER (PARTITION BY d.tags) AS size
              FROM daemon_tags d JOIN waiting j ON ${daemonTakesJob}
            )
            SELECT id, min(place) AS queue_position, max(size) AS queue_size FROM ranked WHERE ${among(sql, sql`id`, ids)} GROUP BY id`
        ),
      deploymentQueue: (ids) =>
        Effect.gen(function* () {
          const { count } = yield* one(counted, sql`SELECT count(*) AS count FROM provisioner_jobs WHERE ${isWaiting}`)
          if (count === 0 || ids.length === 0) return { size: count, places: [] }
          const places = yield* all(
            place,
            sql`SELECT id, queue_position, queue_size FROM (
                SELECT id, row_number() OVER (ORDER BY ${queueOrder}) AS queue_position, count(*) OVER () AS queue_size
                FROM provisioner_jobs WHERE ${isWaiting}
              ) AS ranked WHERE ${among(sql, sql`id`, ids)}`
          )
          return { size: count, places }
        }),
      acquire: ({ claim_id, except = [], lease_expires_at, now, organization_id, provisioners, tags, worker_id }) =>
        first(
          takenJob,
          sql`UPDATE provisioner_jobs
            SET started_at = ${now}, updated_at = ${now}, worker_id = ${worker_id}, claim_id = ${claim_id},
              lease_expires_at = ${lease_expires_at}, attempts = attempts + 1, unrepeatable = ${dialect.boolean(false)}
            WHERE id = (
              SELECT id FROM provisioner_jobs
              WHERE ${isWaiting} AND organization_id = ${organization_id} AND provisioner IN ${sql.in(provisioners)}
                AND ${tagsContained(sql, tagsValue(sql, tags), sql`tags`)}
                ${except.length === 0 ? sql`` : sql`AND NOT (${among(sql, sql`file_id`, except)})`}
              ORDER BY ${queueOrder} LIMIT 1 ${skippingLocked}
            )
            RETURNING ${claimSelected},
              coalesce((SELECT u.username FROM users u WHERE u.id = provisioner_jobs.initiator_id), '') AS initiator_username`
        ),
      isShared: sql.dialect({ sqlite: () => false, postgres: () => true }),
      availableWorkers: (ids, seenSince) =>
        all(
          worker,
          sql`SELECT j.id AS job_id, d.id AS daemon_id, d.engines
            FROM provisioner_jobs j
            JOIN provisioner_daemons d ON d.organization_id = j.organization_id AND ${hasProvisioner} AND ${daemonTakesJob}
            WHERE ${among(sql, sql`j.id`, ids)} AND ${sql.literal(jobIs("pending", "j"))}
              ${seenSince === undefined ? sql`` : sql`AND d.last_seen_at > ${seenSince}`}
            ORDER BY d.created_at, d.id`
        ),
      matchedProvisioners: (ids, seenSince) =>
        all(
          matched,
          sql`SELECT j.id AS job_id, count(d.id) AS count, count(CASE WHEN d.last_seen_at > ${seenSince} THEN 1 END) AS available,
              max(d.last_seen_at) AS most_recently_seen
            FROM provisioner_jobs j
            LEFT JOIN provisioner_daemons d
              ON d.organization_id = j.organization_id AND d.last_seen_at IS NOT NULL AND ${daemonTakesJob}
            WHERE ${among(sql, sql`j.id`, ids)} GROUP BY j.id`
        )
    })
  })
)
