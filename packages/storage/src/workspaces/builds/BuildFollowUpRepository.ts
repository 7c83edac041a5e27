import { BuildFollowUpRepository, type FollowUpStatus } from "@atelier/core/workspaces"
import { Effect, Schema } from "effect"
import { columnList, json, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, run } from "../../platform/Statement.js"
import { ParameterValue } from "@atelier/core/provisioning"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  build_id: uuid,
  template_version_id: nullable(uuid),
  template_version_preset_id: nullable(uuid),
  rich_parameter_values: json(Schema.Array(ParameterValue)),
  status: text<FollowUpStatus>(),
  attempts: number,
  due_at: timestamp,
  updated_at: timestamp
}
const followUp = row(columns)

export const layer = service(
  BuildFollowUpRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(columnList(columns, "f"))

    return BuildFollowUpRepository.of({
      insert: (value) =>
        run(
          sql`INSERT INTO workspace_build_follow_ups ${sql.insert({
            ...value,
            rich_parameter_values: JSON.stringify(value.rich_parameter_values)
          })}`
        ),
      due: (now, limit) =>
        all(
          followUp,
          sql`SELECT ${selected} FROM workspace_build_follow_ups f
            JOIN workspace_builds b ON b.id = f.build_id
            JOIN provisioner_jobs j ON j.id = b.job_id
            WHERE f.status = 'pending' AND f.due_at <= ${now} AND j.completed_at IS NOT NULL
            ORDER BY f.due_at LIMIT ${limit}`
        ),
      move: ({ attempts, build_id, due_at, status, updated_at }) =>
        applied(
          sql`UPDATE workspace_build_follow_ups
            SET status = ${status}, attempts = ${attempts}, due_at = ${due_at}, updated_at = ${updated_at}
            WHERE build_id = ${build_id} AND status = 'pending' RETURNING build_id`
        ),
      purge: (before) => run(sql`DELETE FROM workspace_build_follow_ups WHERE status <> 'pending' AND updated_at < ${before}`)
    })
  })
)
