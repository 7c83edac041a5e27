import { Uuid, service } from "@atelier/core/platform"
import { canonicalTags, isActive, type JobMetadata, type JobTiming, ProvisionerJobRepository } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { insertAll } from "../../platform/Batch.js"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { columnList, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, run } from "../../platform/Statement.js"
import { claimColumns, columns } from "../columns.js"
import { jobIs } from "../JobStatus.js"
import { tagsContained, tagsValue } from "../queue/Tags.js"
import { Statements } from "../../platform/Statements.js"

const timing = {
  job_id: uuid,
  started_at: timestamp,
  ended_at: timestamp,
  stage: text<JobTiming["stage"]>(),
  source: text(),
  action: text(),
  resource: text()
}

const job = row(columns)
const claimedJob = row(claimColumns)
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

export const layer = service(
  ProvisionerJobRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const dialect = dialectOf(sql)

    const selected = sql.literal(columnList(columns))
    const claimSelected = sql.literal(columnList(claimColumns))
    const forUpdate = locking(sql, "FOR UPDATE")

    /** Jobs that have not ended: SQLite would look for them among all, in the order of the list. */
    const activeJobs = sql.literal(
      sql.dialect({ sqlite: () => "provisioner_jobs INDEXED BY provisioner_jobs_active", postgres: () => "provisioner_jobs" })
    )

    /** The version that a dry run plans. */
    const plannedVersion = sql.dialect({
      postgres: () => sql.literal("CAST(j.input ->> 'template_version_id' AS uuid)"),
      sqlite: () => sql.literal("json_extract(j.input, '$.template_version_id')")
    })

    return ProvisionerJobRepository.of({
      insert: (values) =>
        run(
          insertAll(
            sql,
            "provisioner_jobs",
            values.map((value) => ({
              ...value,
              input: JSON.stringify(value.input),
              tags: canonicalTags(value.tags),
              logs_overflowed: dialect.boolean(value.logs_overflowed),
              claim_id: null,
              lease_expires_at: null,
              attempts: 0,
              unrepeatable: dialect.boolean(false)
            }))
          )
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
      list: ({ ids, initiator_id, limit, organization_id, status, tags }) => {
        const areActive = ids === undefined && status !== undefined && status.length > 0 && status.every(isActive)
        return all(
          job,
          sql`SELECT ${selected} FROM ${areActive ? activeJobs : sql`provisioner_jobs`}
            WHERE ${sql.and([
              sql`organization_id = ${organization_id}`,
              ...(areActive ? [sql`completed_at IS NULL`] : []),
              ...(ids === undefined ? [] : [sql`id IN ${sql.in(ids)}`]),
              ...(initiator_id === undefined ? [] : [sql`initiator_id = ${initiator_id}`]),
              ...(status === undefined ? [] : [sql.or(status.map((value) => sql.literal(jobIs(value))))]),
              ...(tags === undefined ? [] : [tagsContained(sql, sql`tags`, tagsValue(sql, tags))])
            ])}
            ORDER BY created_at DESC, id DESC ${limit === 0 ? sql`` : sql`LIMIT ${limit}`}`
        )
      },
      metadataOf: (ids) =>
        Effect.map(
          all(
            named,
            sql`SELECT j.id, coalesce(bv.name, iv.name, dv.name) AS template_version_name, t.id AS template_id, t.name AS template_name,
                t.display_name AS template_display_name, t.icon AS template_icon, w.id AS workspace_id, w.name AS workspace_name,
                b.transition AS workspace_build_transition
              FROM provisioner_jobs j
              LEFT JOIN workspace_builds b ON b.job_id = j.id
              LEFT JOIN workspaces w ON w.id = b.workspace_id
              LEFT JOIN template_versions bv ON bv.id = b.template_version_id
              LEFT JOIN template_versions iv ON iv.job_id = j.id
              LEFT JOIN template_versions dv ON j.type = 'template_version_dry_run' AND dv.id = ${plannedVersion}
              LEFT JOIN templates t ON t.id = coalesce(bv.template_id, iv.template_id, dv.template_id)
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
      lock: (id) => first(claimedJob, sql`SELECT ${claimSelected} FROM provisioner_jobs WHERE id = ${id} ${forUpdate}`),
      update: (id, { canceled_at, claim_id, completed_at, error, error_code, lease_expires_at, started_at, updated_at, worker_id }) =>
        run(
          sql`UPDATE provisioner_jobs
            SET started_at = ${started_at}, canceled_at = ${canceled_at}, completed_at = ${completed_at}, error = ${error},
              error_code = ${error_code}, worker_id = ${worker_id}, claim_id = ${claim_id}, lease_expires_at = ${lease_expires_at},
              updated_at = ${updated_at}
            WHERE id = ${id}`
        )
    })
  })
)
