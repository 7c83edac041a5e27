import { prebuildsUserId } from "@atelier/core/access"
import { type BuildDetails, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { Effect, Option } from "effect"
import { among } from "../../platform/Among.js"
import { as, insertAll, items } from "../../platform/Batch.js"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { limited, rowsWanted } from "../../platform/Limit.js"
import { nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, run, runUnique } from "../../platform/Statement.js"
import { jobIs } from "../../provisioning/JobStatus.js"
import { builds, initiators, jobs, versions } from "../columns.js"
import { service } from "@atelier/core/platform"
import { buildParameters } from "./BuildParameters.js"
import { buildProgress } from "./BuildProgress.js"
import { provisionerStates, stateColumns } from "./ProvisionerStates.js"
import { type Fragment, Statements } from "../../platform/Statements.js"
import { wideRows } from "../../platform/WideRows.js"

const identified = row({ id: uuid })
const runningBuild = row({
  id: uuid,
  deadline: nullable(timestamp),
  max_deadline: nullable(timestamp),
  completed: timestamp,
  workspace_id: uuid,
  owner_id: uuid,
  ttl_ms: nullable(number),
  autostart_schedule: nullable(text()),
  quiet_hours_schedule: text()
})

export const readDetails = (from: object): BuildDetails => ({
  ...builds.read(from),
  job: jobs.read(from),
  template_version_name: versions.read(from).name,
  initiator_username: initiators.read(from).username
})

/** The column that rows are told apart by. */
const buildId = { name: "build_id", expression: "b.id" }

/** The columns that `readDetails` reads, of a build `b`. */
export const detailColumns = [builds, jobs, versions, initiators].flatMap(({ columns }) => columns)
export const detailJoins = `JOIN provisioner_jobs j ON j.id = b.job_id
  JOIN template_versions v ON v.id = b.template_version_id
  JOIN users i ON i.id = b.initiator_id`

export const layer = service(
  WorkspaceBuildRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const flag = (value: boolean | null) => (value === null ? null : bool(value))
    const forUpdate = locking(sql, "FOR UPDATE OF b")
    const forUpdateOfFree = locking(sql, "FOR UPDATE OF b SKIP LOCKED")
    const { list: columns, unfold } = wideRows(sql, [buildId, ...detailColumns])
    const selected = sql.literal(`${columns} FROM workspace_builds b ${detailJoins}`)
    const read = (from: object) => readDetails(unfold(from))
    const one = (rest: Fragment) => first(read, sql`SELECT ${selected} ${rest}`)

    return WorkspaceBuildRepository.of({
      ...provisionerStates(sql),
      ...buildParameters(sql),
      ...buildProgress(sql),
      byId: (id) => one(sql`WHERE b.id = ${id}`),
      byNumber: (workspaceId, buildNumber) => one(sql`WHERE b.workspace_id = ${workspaceId} AND b.build_number = ${buildNumber}`),
      latest: (workspaceId) => one(sql`WHERE b.workspace_id = ${workspaceId} ORDER BY b.build_number DESC LIMIT 1`),
      lockLatest: (workspaceId) => one(sql`WHERE b.workspace_id = ${workspaceId} ORDER BY b.build_number DESC LIMIT 1 ${forUpdate}`),
      // The last one that is not locked would not be the latest
      lockFreeLatest: (workspaceIds) =>
        all(
          read,
          sql`SELECT ${selected} JOIN workspaces w ON w.latest_build_id = b.id WHERE ${among(sql, sql`w.id`, workspaceIds)} ${forUpdateOfFree}`
        ),
      list: (workspaceId, { after_number, limit, offset, since }) =>
        all(
          read,
          sql`SELECT ${selected} WHERE ${sql.and([
            sql`b.workspace_id = ${workspaceId}`,
            ...(since === undefined ? [] : [sql`b.created_at > ${since}`]),
            ...(after_number === undefined ? [] : [sql`b.build_number > ${after_number}`])
          ])} ORDER BY b.build_number DESC ${limited(sql, { limit: rowsWanted(limit), offset })}`
        ),
      hasOutcome: (workspaceId) =>
        Effect.map(
          first(
            identified,
            sql`SELECT b.id FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
              WHERE b.workspace_id = ${workspaceId}
                AND (${sql.literal(jobIs("succeeded", "j"))} OR b.sealed_state IS NOT NULL OR length(b.provisioner_state) > 0) LIMIT 1`
          ),
          Option.isSome
        ),
      insert: (stored) =>
        runUnique(
          Effect.zipRight(
            insertAll(
              sql,
              "workspace_builds",
              stored.map(({ build, state }) => ({
                ...build,
                has_ai_task: flag(build.has_ai_task),
                has_external_agent: flag(build.has_external_agent),
                ...stateColumns(state)
              }))
            ),
            insertAll(
              sql,
              "workspace_build_parameters",
              stored.flatMap(({ build: { id: workspace_build_id }, parameters }) =>
                parameters.map(({ name, value }) => ({ workspace_build_id, name, value }))
              )
            )
          )
        ),
      complete: (id, { deadline, has_ai_task, has_external_agent, max_deadline, state, updated_at }) =>
        run(
          sql`UPDATE workspace_builds SET ${sql.update({
            deadline,
            max_deadline,
            has_ai_task: flag(has_ai_task),
            has_external_agent: flag(has_external_agent),
            ...stateColumns(state),
            updated_at
          })} WHERE id = ${id}`
        ),
      moveDeadline: (id, from, to, at) =>
        applied(
          sql`UPDATE workspace_builds SET deadline = ${to}, updated_at = ${at}
            WHERE id = ${id} AND deadline = ${from} AND (max_deadline IS NULL OR max_deadline >= ${to}) RETURNING id`
        ),
      runningOf: (templateId, { after, limit, stops_after }) =>
        all(
          runningBuild,
          sql`SELECT b.id, b.deadline, b.max_deadline, j.completed_at AS completed, w.id AS workspace_id, w.owner_id, w.ttl_ms,
              w.autostart_schedule, u.quiet_hours_schedule
            FROM workspaces w
            JOIN workspace_builds b ON b.id = w.latest_build_id
            JOIN provisioner_jobs j ON j.id = b.job_id
            JOIN users u ON u.id = w.owner_id
            WHERE w.template_id = ${templateId} AND w.list_rank = 0 AND NOT w.deleted AND w.owner_id <> ${prebuildsUserId}
              AND (b.max_deadline IS NULL OR b.max_deadline >= ${stops_after}) ${after === undefined ? sql`` : sql`AND b.id > ${after}`}
            ORDER BY b.id LIMIT ${limit} ${forUpdate}`
        ),
      setDeadlines: (changes, at) =>
        run(
          sql`UPDATE workspace_builds SET deadline = ${as(sql, "timestamp", sql`value ->> 'deadline'`)},
              max_deadline = ${as(sql, "timestamp", sql`value ->> 'max_deadline'`)}, updated_at = ${at}
            FROM ${items(sql, changes)} WHERE id = ${as(sql, "uuid", sql`value ->> 'id'`)}`
        )
    })
  })
)
