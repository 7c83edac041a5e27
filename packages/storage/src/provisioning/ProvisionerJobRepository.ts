import { SqlClient } from "@effect/sql"
import { prebuildsUserId } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import {
  canonicalTags,
  JobInput,
  type JobLog,
  type JobMetadata,
  type JobTiming,
  type JobType,
  ProvisionerJobRepository,
  ProvisionerTags,
  type ProvisionerType
} from "@atelier/core/provisioning"
import { Effect, Layer, Option } from "effect"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { dialectOf } from "../platform/Dialect.js"
import { boolean, columnList, json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, run } from "../platform/Statement.js"
import { jobIs } from "./JobStatus.js"
import { tagsContained, tagsValue } from "./Tags.js"

const timing = {
  job_id: uuid,
  started_at: timestamp,
  ended_at: timestamp,
  stage: text<JobTiming["stage"]>(),
  source: text(),
  action: text(),
  resource: text()
}

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

const claimColumns = {
  ...columns,
  claim_id: nullable(uuid),
  lease_expires_at: nullable(timestamp),
  attempts: number,
  unrepeatable: boolean
}

const job = row(columns)
const claimedJob = row(claimColumns)
const identified = row({ id: uuid })
const place = row({ id: uuid, queue_position: number, queue_size: number })
const counted = row({ count: number })
const cancellation = row({ canceled_at: nullable(timestamp) })
const worker = row({ job_id: uuid, daemon_id: uuid })
const matched = row({ job_id: uuid, count: number, available: number, most_recently_seen: nullable(timestamp) })
const named = row({
  id: uuid,
  template_version_name: nullable(text()),
  template_id: nullable(uuid),
  template_name: nullable(text()),
  template_display_name: nullable(text()),
  template_icon: nullable(text()),
  workspace_id: nullable(uuid),
  workspace_name: nullable(text()),
  workspace_build_transition: nullable(text<NonNullable<JobMetadata["workspace_build_transition"]>>())
})
const log = row({
  id: number,
  created_at: timestamp,
  log_source: text<JobLog["log_source"]>(),
  log_level: text<JobLog["log_level"]>(),
  stage: text(),
  output: text()
})
const staged = row({ stage: text() })

export const layer = Layer.effect(
  ProvisionerJobRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dialect = dialectOf(sql)

    const selected = sql.literal(columnList(columns))
    const claimSelected = sql.literal(columnList(claimColumns))
    const isWaiting = sql.literal(jobIs("pending"))
    // Written out, not bound: only so do the databases see that it is the order of the index
    const isPrebuild = sql.literal(`(initiator_id = '${prebuildsUserId}')`)
    const queueOrder = sql`${isPrebuild}, created_at, id`
    const forUpdate = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE`, orElse: () => sql`` })
    const skippingLocked = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE SKIP LOCKED`, orElse: () => sql`` })
    const hasProvisioner = sql.onDialectOrElse({
      pg: () => sql`d.provisioners @> to_jsonb(j.provisioner)`,
      orElse: () => sql`EXISTS (SELECT 1 FROM json_each(d.provisioners) WHERE value = j.provisioner)`
    })
    const daemonTakesJob = tagsContained(sql, sql`d.tags`, sql`j.tags`)

    return ProvisionerJobRepository.of({
      insert: (value) =>
        run(
          sql`INSERT INTO provisioner_jobs ${sql.insert({
            ...value,
            input: JSON.stringify(value.input),
            tags: canonicalTags(value.tags),
            logs_overflowed: dialect.boolean(value.logs_overflowed),
            claim_id: null,
            lease_expires_at: null,
            attempts: 0,
            unrepeatable: dialect.boolean(false)
          })}`
        ),
      byId: (id) => first(job, sql`SELECT ${selected} FROM provisioner_jobs WHERE id = ${id}`),
      timings: (id) =>
        all(
          row(timing),
          sql`SELECT ${sql.literal(columnList(timing, "t"))} FROM provisioner_job_timings t WHERE t.job_id = ${id} ORDER BY t.position`
        ),
      insertTimings: (timings) =>
        run(
          insertAll(
            sql,
            "provisioner_job_timings",
            timings.map((timing, position) => ({ ...timing, position }))
          )
        ),
      byIds: (ids) => all(job, sql`SELECT ${selected} FROM provisioner_jobs WHERE ${among(sql, sql`id`, ids)}`),
      list: ({ ids, initiator_id, limit, organization_id, status, tags }) =>
        all(
          job,
          sql`SELECT ${selected} FROM provisioner_jobs
            WHERE ${sql.and([
              sql`organization_id = ${organization_id}`,
              ...(ids === undefined ? [] : [sql`id IN ${sql.in(ids)}`]),
              ...(initiator_id === undefined ? [] : [sql`initiator_id = ${initiator_id}`]),
              ...(status === undefined ? [] : [sql.or(status.map((value) => sql.literal(jobIs(value))))]),
              ...(tags === undefined ? [] : [tagsContained(sql, sql`tags`, tagsValue(sql, tags))])
            ])}
            ORDER BY created_at DESC, id DESC ${limit === 0 ? sql`` : sql`LIMIT ${limit}`}`
        ),
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
      metadataOf: (ids) =>
        Effect.map(
          all(
            named,
            sql`SELECT j.id, coalesce(bv.name, iv.name) AS template_version_name, t.id AS template_id, t.name AS template_name,
                t.display_name AS template_display_name, t.icon AS template_icon, w.id AS workspace_id, w.name AS workspace_name,
                b.transition AS workspace_build_transition
              FROM provisioner_jobs j
              LEFT JOIN workspace_builds b ON b.job_id = j.id
              LEFT JOIN workspaces w ON w.id = b.workspace_id
              LEFT JOIN template_versions bv ON bv.id = b.template_version_id
              LEFT JOIN template_versions iv ON iv.job_id = j.id
              LEFT JOIN templates t ON t.id = coalesce(bv.template_id, iv.template_id)
              WHERE ${among(sql, sql`j.id`, ids)}`
          ),
          (rows) =>
            rows.map((names) => ({
              ...names,
              template_version_name: names.template_version_name ?? "",
              template_id: names.template_id ?? Uuid.nil,
              template_name: names.template_name ?? "",
              template_display_name: names.template_display_name ?? "",
              template_icon: names.template_icon ?? ""
            }))
        ),
      acquire: ({ claim_id, lease_expires_at, now, organization_id, provisioners, tags, worker_id }) =>
        first(
          claimedJob,
          sql`UPDATE provisioner_jobs
            SET started_at = ${now}, updated_at = ${now}, worker_id = ${worker_id}, claim_id = ${claim_id},
              lease_expires_at = ${lease_expires_at}, attempts = attempts + 1, unrepeatable = ${dialect.boolean(false)}
            WHERE id = (
              SELECT id FROM provisioner_jobs
              WHERE ${isWaiting} AND organization_id = ${organization_id} AND provisioner IN ${sql.in(provisioners)}
                AND ${tagsContained(sql, tagsValue(sql, tags), sql`tags`)}
              ORDER BY ${queueOrder} LIMIT 1 ${skippingLocked}
            )
            RETURNING ${claimSelected}`
        ),
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
      lock: (id) => first(claimedJob, sql`SELECT ${claimSelected} FROM provisioner_jobs WHERE id = ${id} ${forUpdate}`),
      update: (id, { canceled_at, claim_id, completed_at, error, error_code, lease_expires_at, started_at, updated_at, worker_id }) =>
        run(
          sql`UPDATE provisioner_jobs
            SET started_at = ${started_at}, canceled_at = ${canceled_at}, completed_at = ${completed_at}, error = ${error},
              error_code = ${error_code}, worker_id = ${worker_id}, claim_id = ${claim_id}, lease_expires_at = ${lease_expires_at},
              updated_at = ${updated_at}
            WHERE id = ${id}`
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
      endLeases: (now) =>
        run(sql`UPDATE provisioner_jobs SET lease_expires_at = ${now} WHERE completed_at IS NULL AND lease_expires_at IS NOT NULL`),
      isShared: dialect.name === "postgres",
      availableWorkers: (ids) =>
        all(
          worker,
          sql`SELECT j.id AS job_id, d.id AS daemon_id
            FROM provisioner_jobs j
            JOIN provisioner_daemons d ON d.organization_id = j.organization_id AND ${hasProvisioner} AND ${daemonTakesJob}
            WHERE ${among(sql, sql`j.id`, ids)} AND ${sql.literal(jobIs("pending", "j"))}
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
        ),
      appendLogs: (id, rows, length, overflowed) =>
        Effect.gen(function* () {
          yield* run(
            sql`UPDATE provisioner_jobs SET logs_length = ${length}, logs_overflowed = ${dialect.boolean(overflowed)} WHERE id = ${id}`
          )
          if (rows.length === 0) return Option.none()
          const inserted = yield* all(
            row({ id: number }),
            sql`INSERT INTO provisioner_job_logs ${sql.insert(rows.map((value) => ({ job_id: id, ...value })))} RETURNING id`
          )
          return Option.some(Math.min(...inserted.map((value) => value.id)))
        }),
      logs: (id, after, limit) =>
        all(
          log,
          sql`SELECT id, created_at, log_source, log_level, stage, output FROM provisioner_job_logs
            WHERE job_id = ${id} AND id > ${after} ORDER BY id LIMIT ${limit}`
        ),
      lastStage: (id) =>
        Effect.map(
          first(staged, sql`SELECT stage FROM provisioner_job_logs WHERE job_id = ${id} ORDER BY id DESC LIMIT 1`),
          Option.map(({ stage }) => stage)
        )
    })
  })
)
