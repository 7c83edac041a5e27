import { SqlClient, type Statement } from "@effect/sql"
import { prebuildsUserId } from "@atelier/core/access"
import { type BuildDetails, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { Effect, Layer, Option } from "effect"
import { as, items } from "../platform/Batch.js"
import { dialectOf } from "../platform/Dialect.js"
import { bytes, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, run, runUnique } from "../platform/Statement.js"
import { builds, initiators, jobs, versions } from "./columns.js"

const parameter = row({ name: text(), value: text() })
const stored = row({ provisioner_state: bytes })
const running = row({ workspace_id: uuid, state: bytes })
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

/** What `readDetails` reads, of a build `b`. */
export const detailColumns = [builds.list, jobs.list, versions.list, initiators.list].join(", ")
export const detailJoins = `JOIN provisioner_jobs j ON j.id = b.job_id
  JOIN template_versions v ON v.id = b.template_version_id
  JOIN users i ON i.id = b.initiator_id`

export const layer = Layer.effect(
  WorkspaceBuildRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)
    const flag = (value: boolean | null) => (value === null ? null : bool(value))
    const forUpdate = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE OF b`, orElse: () => sql`` })
    const selected = sql.literal(`${detailColumns} FROM workspace_builds b ${detailJoins}`)
    const one = (rest: Statement.Fragment) => first(readDetails, sql`SELECT ${selected} ${rest}`)

    return WorkspaceBuildRepository.of({
      byId: (id) => one(sql`WHERE b.id = ${id}`),
      byNumber: (workspaceId, buildNumber) => one(sql`WHERE b.workspace_id = ${workspaceId} AND b.build_number = ${buildNumber}`),
      latest: (workspaceId) => one(sql`WHERE b.workspace_id = ${workspaceId} ORDER BY b.build_number DESC LIMIT 1`),
      list: (workspaceId, { after_number, limit, offset, since }) =>
        all(
          readDetails,
          sql`SELECT ${selected} WHERE ${sql.and([
            sql`b.workspace_id = ${workspaceId}`,
            ...(since === undefined ? [] : [sql`b.created_at > ${since}`]),
            ...(after_number === undefined ? [] : [sql`b.build_number > ${after_number}`])
          ])} ORDER BY b.build_number DESC LIMIT ${limit === 0 ? maximumRows : limit} OFFSET ${offset}`
        ),
      parameters: (id) =>
        all(parameter, sql`SELECT name, value FROM workspace_build_parameters WHERE workspace_build_id = ${id} ORDER BY name`),
      state: (id) =>
        Effect.map(
          first(stored, sql`SELECT provisioner_state FROM workspace_builds WHERE id = ${id}`),
          Option.match({ onNone: () => new Uint8Array(), onSome: ({ provisioner_state }) => provisioner_state })
        ),
      insert: (build, { parameters, state }) =>
        runUnique(
          Effect.gen(function* () {
            yield* sql`INSERT INTO workspace_builds ${sql.insert({
              ...build,
              has_ai_task: flag(build.has_ai_task),
              has_external_agent: flag(build.has_external_agent),
              provisioner_state: state
            })}`
            if (parameters.length === 0) return
            yield* sql`INSERT INTO workspace_build_parameters ${sql.insert(
              parameters.map(({ name, value }) => ({ workspace_build_id: build.id, name, value }))
            )}`
          })
        ),
      complete: (id, { deadline, has_ai_task, has_external_agent, max_deadline, state, updated_at }) =>
        run(
          sql`UPDATE workspace_builds SET ${sql.update({
            deadline,
            max_deadline,
            has_ai_task: flag(has_ai_task),
            has_external_agent: flag(has_external_agent),
            provisioner_state: state,
            updated_at
          })} WHERE id = ${id}`
        ),
      setState: (id, state, at) => run(sql`UPDATE workspace_builds SET provisioner_state = ${state}, updated_at = ${at} WHERE id = ${id}`),
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
        ),
      running: all(
        running,
        sql`SELECT w.id AS workspace_id, b.provisioner_state AS state
          FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
          WHERE w.latest_status = 'running' AND NOT w.deleted`
      )
    })
  })
)

/** What a limit of 0 stands for. */
const maximumRows = 2_147_483_647
